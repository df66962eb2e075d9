// Two tools, chained: what the first one finds is what the second one gets.
import { defineTool, defineWorkflow, runToEnd } from "toolweave";

const findCity = defineTool({
  name: "find_city",
  effect: "read",
  execute: () => [
    { name: "Oslo", latitude: 59.9 },
    { name: "Bergen", latitude: 60.4 },
  ],
});

const forecast = defineTool({
  name: "forecast",
  effect: "read",
  execute: ({ latitude }) => ({ celsius: Number(latitude) > 60 ? -2 : 3 }),
});

const weather = defineWorkflow({
  name: "weather",
  steps: [
    { id: "city", tool: "find_city" },
    { id: "sky", tool: "forecast", inputs: { latitude: "{{steps.city.result.1.latitude}}" } },
  ],
  output: '{{steps.city.result.1.name}}: {{steps.sky.result.celsius}} °C. {{input.greeting ?? "Dress warmly!"}}',
});

const result = await runToEnd(weather, { tools: [findCity, forecast] });
console.log(result.status);
console.log(result.output);
