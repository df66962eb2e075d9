/** Set TOOLWEAVE_LAWS=thorough to try every case, and many more random ones; without it a share of them. */
export const isThorough = process.env.TOOLWEAVE_LAWS === "thorough";
