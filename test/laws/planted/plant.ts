import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { PlantedFault } from "./faults.js";

const root = fileURLToPath(new URL("../../../", import.meta.url));

/** How often the text that a fault replaces is there. */
export function places({ file, find }: PlantedFault): number {
  return occurrences(readFileSync(join(root, "src", file), "utf8"), find);
}

function occurrences(text: string, find: string): number {
  return text.split(find).length - 1;
}

/** A copy of the source, in which faults are planted one by one. */
export class Plot {
  private readonly folder = mkdtempSync(join(tmpdir(), "toolweave-planted-"));

  constructor() {
    for (const part of ["src", "test/laws", "package.json", "tsconfig.json"]) {
      cpSync(join(root, part), join(this.folder, part), { recursive: true });
    }
    symlinkSync(join(root, "node_modules"), join(this.folder, "node_modules"));
  }

  /** What the simulation finds in the samples of a fault, while it is planted; `""` for nothing. */
  caught({ file, find, replace, samples }: PlantedFault, limit: number): string {
    const place = join(this.folder, "src", file);
    const text = readFileSync(place, "utf8");
    if (occurrences(text, find) !== 1) throw new Error(`src/${file} does not hold this once: ${find}`);
    writeFileSync(
      place,
      text.replace(find, () => replace),
    );
    const node = ["--import", "tsx", "test/laws/planted/catch.ts", String(limit), ...samples];
    const { status, stdout, stderr } = spawnSync(process.execPath, node, { cwd: this.folder, encoding: "utf8" });
    writeFileSync(place, text);
    if (status !== 0) throw new Error(`The simulation did not come to its end: ${stderr}`);
    return stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
