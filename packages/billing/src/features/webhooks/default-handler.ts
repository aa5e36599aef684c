import type { BillingContext } from '../../core/context.ts'
import type { LockedOwner } from '../../core/locked-owner.ts'
import type { ReadingGateway } from '../../providers/gateway.ts'
import type { EventSubject } from '../../providers/webhook.ts'

/** An event that is handled while the owner's lock is held. */
export interface OwnerEvent {
  readonly locked: LockedOwner
  readonly gateway: ReadingGateway
  /**
   * The ids of the objects that the event is about. The objects are read again from the provider.
   */
  readonly subject: EventSubject
}

/**
 * Updates our rows on one topic to the provider's present state. Does nothing if the event is not
 * about it.
 */
export type DefaultHandler = (context: BillingContext, event: OwnerEvent) => Promise<void>
