import type { BillingContext } from '../../core/context.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { ReadOnlyGateway } from '../../providers/gateway.ts'
import type { EventSubject } from '../../providers/webhook.ts'

/**
 * A provider event, and the owner that it is about, whose lock is held while the event is handled.
 */
export interface LockedOwnerEvent {
  readonly locked: LockedOwner
  readonly gateway: ReadOnlyGateway
  /**
   * The ids of the objects that the event is about. Handlers read the objects again from the
   * provider.
   */
  readonly subject: EventSubject
}

/**
 * Handles provider events on one topic, such as cards, by updating our database to the provider's
 * present state. Does nothing for events on other topics.
 */
export type DefaultHandler = (context: BillingContext, event: LockedOwnerEvent) => Promise<void>
