// Measures one side in a process of its own: node worker.mjs <file in work> <side> [argument].
const [file, side, ...given] = process.argv.slice(2);
const { [side]: measure } = await import(`./sides/${file}.mjs`);
const cost = await measure(...given.map((text) => (/^\d+$/.test(text) ? Number(text) : text)));
// Some peers keep timers that would hold the process.
process.stdout.write(`${JSON.stringify({ cost })}\n`, () => process.exit(0));
