/** Running trials whose end can be moved. New trials may have an exact end: `trialEndsAt`. */
export interface Trials {
  /**
   * Moves the end of a trial. `now` ends it and charges the customer. Does nothing if the trial is
   * over.
   */
  setEnd(id: string, endsAt: Date | 'now'): Promise<void>
}

declare module '../../providers/gateway-parts.ts' {
  interface GatewayParts {
    /** Trials whose end can be moved. */
    readonly trials: Trials
  }
}
