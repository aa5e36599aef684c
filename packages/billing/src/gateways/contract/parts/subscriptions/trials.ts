/** Trials whose end can be moved while they run. New ones may have a date: `trialEndsAt`. */
export interface Trials {
  /** `now` ends it, and bills. A repeat finds that it is over. */
  setEnd(id: string, endsAt: Date | 'now'): Promise<void>
}
