import type { LockedOwner } from '../../consistency/owner-lock.ts'
import type { BillingContext } from '../../context.ts'
import type { ReadingGateway } from '../../gateways/contract/gateway.ts'
import type { EventSubject } from '../../gateways/contract/webhook.ts'

/** An event of an owner whom nobody else works on meanwhile. */
export interface OwnerEvent {
  readonly locked: LockedOwner
  readonly gateway: ReadingGateway
  /** Ids only: what they stand for is read again. */
  readonly subject: EventSubject
}

/** Brings our rows on one topic to what the provider has now. Does nothing if the event is not about it. */
export type DefaultHandler = (context: BillingContext, event: OwnerEvent) => Promise<void>
