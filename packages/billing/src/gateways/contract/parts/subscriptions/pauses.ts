/** What becomes of the bills of a pause. */
export type PausedBills = 'void' | 'keep_as_draft' | 'mark_uncollectible'

/** A pause: bills are made, and nobody is asked to pay them. */
export interface Pause {
  /** When it ends by itself; null for never. */
  readonly until: Date | null
  /** What becomes of the bills. */
  readonly bills: PausedBills
}

/** Subscriptions that nobody pays for a while. They are told by `ProviderSubscription.pause`. */
export interface Pauses {
  /** A repeat changes the pause to this one. */
  pause(id: string, pause: Pause): Promise<void>
  /** Nothing happens when it is not paused. */
  unpause(id: string): Promise<void>
}
