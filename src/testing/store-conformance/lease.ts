import type { RunLease } from "../../ports/run-store.js";
import type { CaseDefinition, Trial } from "./case.js";
import { eventually, expectRejection, expectSame, expectTrue } from "./expect.js";

/** A lease that no case outlives, and one that ends soon. */
const longMs = 600_000;
const shortMs = 40;
const rivals = 20;

const cases: readonly Omit<CaseDefinition, "needs">[] = [
  {
    name: "one may claim a run that nobody holds",
    async check({ lease, runId }) {
      expectTrue(await lease.claim(runId, "ada", longMs), "ada claims");
    },
  },
  {
    name: "nobody else may claim a run that is held",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", longMs);
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused");
      expectTrue(!(await lease.claim(runId, "bea", shortMs)), "bea is refused again");
      expectTrue(await lease.renew(runId, "ada", longMs), "ada still holds it");
    },
  },
  {
    name: "its owner may claim again, which renews it",
    async check(trial) {
      const { lease, runId } = trial;
      await lease.claim(runId, "ada", shortMs);
      expectTrue(await lease.claim(runId, "ada", longMs), "ada claims again");
      await untilAShortLeaseEnds(trial);
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused when the first claim would have ended");
    },
  },
  {
    name: "of those who claim at once one wins",
    async check({ lease, runId }) {
      await expectOneOwner([lease], runId);
    },
  },
  {
    name: "another may claim when the lease has expired",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", shortMs);
      await eventually("bea claims", () => lease.claim(runId, "bea", longMs));
      expectTrue(!(await lease.claim(runId, "ada", longMs)), "ada is refused");
    },
  },
  {
    name: "of those who claim an expired lease one wins",
    async check(trial) {
      await trial.lease.claim(trial.runId, "gone", shortMs);
      await untilAShortLeaseEnds(trial);
      await expectOneOwner([trial.lease], trial.runId);
    },
  },
  {
    name: "its owner may claim it when it has expired",
    async check(trial) {
      const { lease, runId } = trial;
      await lease.claim(runId, "ada", shortMs);
      await untilAShortLeaseEnds(trial);
      expectTrue(await lease.claim(runId, "ada", longMs), "ada claims");
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused");
    },
  },
  {
    name: "renewing keeps it alive",
    async check(trial) {
      const { lease, runId } = trial;
      await lease.claim(runId, "ada", shortMs);
      expectTrue(await lease.renew(runId, "ada", longMs), "ada renews");
      await untilAShortLeaseEnds(trial);
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused when the claim would have ended");
    },
  },
  {
    name: "its owner may renew it when it has expired, if nobody came",
    async check(trial) {
      const { lease, runId } = trial;
      await lease.claim(runId, "ada", shortMs);
      await untilAShortLeaseEnds(trial);
      expectTrue(await lease.renew(runId, "ada", longMs), "ada renews");
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused");
    },
  },
  {
    name: "it can't be renewed when another has claimed it",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", shortMs);
      await eventually("bea claims", () => lease.claim(runId, "bea", longMs));
      expectTrue(!(await lease.renew(runId, "ada", longMs)), "ada can't renew");
      expectTrue(await lease.renew(runId, "bea", longMs), "bea can");
    },
  },
  {
    name: "it can't be renewed when another's claim has expired in turn",
    async check(trial) {
      const { lease, runId } = trial;
      await lease.claim(runId, "ada", shortMs);
      await eventually("bea claims", () => lease.claim(runId, "bea", shortMs));
      await untilAShortLeaseEnds(trial);
      expectTrue(!(await lease.renew(runId, "ada", longMs)), "ada can't renew");
    },
  },
  {
    name: "what was never claimed can't be renewed",
    async check({ lease, runId }) {
      expectTrue(!(await lease.renew(runId, "ada", longMs)), "ada can't renew");
      expectTrue(await lease.claim(runId, "bea", longMs), "bea may claim");
    },
  },
  {
    name: "releasing frees it at once",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", longMs);
      await lease.release(runId, "ada");
      expectTrue(!(await lease.renew(runId, "ada", longMs)), "ada can't renew what she released");
      expectTrue(await lease.claim(runId, "bea", longMs), "bea claims");
    },
  },
  {
    name: "one can't release what another holds",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", longMs);
      await lease.release(runId, "bea");
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused");
      expectTrue(await lease.renew(runId, "ada", longMs), "ada still holds it");
    },
  },
  {
    name: "one who lost it can't release it from who has it now",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", shortMs);
      await eventually("bea claims", () => lease.claim(runId, "bea", longMs));
      await lease.release(runId, "ada");
      expectTrue(!(await lease.claim(runId, "cleo", longMs)), "cleo is refused");
    },
  },
  {
    name: "releasing what nobody holds does nothing",
    async check({ lease, runId }) {
      await lease.release(runId, "ada");
    },
  },
  {
    name: "those of two runs are two",
    async check({ lease, runId }) {
      await lease.claim(runId, "ada", longMs);
      expectTrue(await lease.claim(`${runId}-other`, "bea", longMs), "bea claims another run");
      await lease.release(`${runId}-other`, "bea");
      expectTrue(await lease.renew(runId, "ada", longMs), "ada still holds hers");
    },
  },
  {
    name: "it says nothing of the run: none is needed, and none is begun",
    async check({ store, lease, runId, begin, listed }) {
      await lease.claim(runId, "ada", longMs);
      expectSame(await store.head(runId), undefined, "the head");
      expectSame(await listed(), [], "the list");
      await begin();
      expectTrue(!(await lease.claim(runId, "bea", longMs)), "bea is refused after the run began");
    },
  },
  {
    name: "owners whose names hardly differ are two",
    async check({ lease, runId }) {
      const owners = ["ada", "Ada", "ada ", "ada'", "ad\u00E4", "ada\u0308", "__proto__", "\u{1F9F5}"];
      for (const owner of owners) {
        expectTrue(await lease.claim(runId, owner, longMs), `${owner} claims`);
        for (const other of owners) {
          if (other !== owner)
            expectTrue(!(await lease.claim(runId, other, longMs)), `${other} is refused for ${owner}`);
        }
        await lease.release(runId, owner);
      }
    },
  },
  ...[0, -1, Number.NaN, Number.POSITIVE_INFINITY].map((ttlMs) => ({
    name: `a time of ${ttlMs} ms is refused`,
    async check({ lease, runId }: Trial) {
      await expectRejection(lease.claim(runId, "ada", ttlMs), "the claim");
      expectTrue(await lease.claim(runId, "bea", longMs), "bea claims, since ada did not");
      await expectRejection(lease.renew(runId, "bea", ttlMs), "the renewal");
      expectTrue(!(await lease.claim(runId, "ada", longMs)), "ada is refused, since bea's claim stands");
    },
  })),
];

export const leaseCases: readonly CaseDefinition[] = [
  ...cases.map(({ name, check }) => ({ name: `lease: ${name}`, needs: "lease", check }) satisfies CaseDefinition),
  {
    name: "reopen: of those who claim a lease through two handles one wins",
    needs: "reopen",
    async check({ store, runId, reopen }) {
      const leases = [store.lease, (await reopen()).lease].filter((lease) => lease !== undefined);
      if (leases.length > 0) await expectOneOwner(leases, runId);
    },
  },
];

async function expectOneOwner(leases: readonly RunLease[], runId: string): Promise<void> {
  const owners = Array.from({ length: rivals }, (_, index) => `owner-${index}`);
  const claims = await Promise.all(
    owners.map((owner, index) => leases[index % leases.length]?.claim(runId, owner, longMs)),
  );
  const winners = owners.filter((_, index) => claims[index]);
  expectSame(winners.length, 1, "the number of owners");
  for (const owner of owners) {
    const renewed = await leases[0]?.renew(runId, owner, longMs);
    expectSame(renewed, winners.includes(owner), `whether ${owner} may renew`);
  }
}

/** By the store's own clock: a lease that is claimed now for as long as the short ones of before, and polled. */
async function untilAShortLeaseEnds({ lease, runId }: Trial): Promise<void> {
  const reference = `${runId}-reference`;
  await lease.claim(reference, "first", shortMs);
  await eventually("a short lease ends", () => lease.claim(reference, "second", longMs));
}
