/** Trials whose end can be moved while they run. */
export interface Trials {
  /** `now` ends it, and bills. */
  setEnd(id: string, endsAt: Date | 'now', operation: string): Promise<void>
}
