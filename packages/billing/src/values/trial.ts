/** Days; two years, because no provider takes more. */
export const LONGEST_TRIAL = 730
