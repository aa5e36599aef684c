/** What becomes of the bills of a pause. */
export type PausedBills = 'void' | 'keep_as_draft' | 'mark_uncollectible'

/** A pause, and what is not collected meanwhile. */
export interface NewPause {
  /** When it ends by itself; null for never. */
  readonly until: Date | null
  /** What becomes of the bills. */
  readonly bills: PausedBills
}

/** Subscriptions that nobody pays for a while. They are told by `ProviderSubscription.pausedAt`. */
export interface Pauses {
  /** A repeat changes the pause to this one. */
  pause(id: string, pause: NewPause): Promise<void>
  /** Nothing happens when it is not paused. */
  unpause(id: string): Promise<void>
}
