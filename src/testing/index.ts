export { type FakeClock, type FakeClockOptions, fakeClock } from "./fake-clock.js";
export {
  type ScriptEntry,
  type ScriptedCall,
  type ScriptedTool,
  type ScriptedToolOptions,
  scriptedTool,
} from "./scripted-tool.js";
export {
  type StoreConformanceCase,
  type StoreConformanceOptions,
  type StoreUnderTest,
  storeConformance,
} from "./store-conformance.js";
