export { type FakeClock, type FakeClockOptions, fakeClock } from "./fake-clock.js";
export { type FakeState, fakeState } from "./fake-state.js";
export { type FakeTool, type FakeToolOptions, fakeTool } from "./fake-tool.js";
export {
  type ScriptEntry,
  type ScriptedCall,
  type ScriptedTool,
  type ScriptedToolOptions,
  scriptedTool,
} from "./scripted-tool.js";
export type { Choice, FaultKind, Faults, Schedule } from "./simulate/schedule.js";
export type { SimulatedWorld } from "./simulate/setup.js";
export type { SimulatedWrite } from "./simulate/witness.js";
export {
  type SimulateOptions,
  SimulationError,
  type SimulationReport,
  simulate,
  type Violation,
} from "./simulate.js";
export {
  type StoreConformanceCase,
  type StoreConformanceOptions,
  type StoreUnderTest,
  storeConformance,
} from "./store-conformance.js";
