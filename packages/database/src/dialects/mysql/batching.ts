/** Each goes alone; decision 0011 says how that was measured. */
export const batching = null
