import { withOwnerLock } from '../consistency/owner-lock.ts'
import { resumeInterrupted } from '../consistency/resume-interrupted.ts'
import type { BillingContext } from '../context.ts'
import type { ReadingGateway } from '../gateways/contract/gateway.ts'
import type { EventSubject } from '../gateways/contract/webhook.ts'
import { DEFAULTS } from './defaults/all.ts'

/** Whatever the event says: read what it is about again, and bring our rows to that. */
export async function runDefaultHandler(
  context: BillingContext,
  gateway: ReadingGateway,
  event: unknown,
): Promise<void> {
  const subject = gateway.subjectOf(event)
  const userId = await findUser(context, gateway, subject)
  if (userId === null) return
  await withOwnerLock(context, userId, async (locked) => {
    await resumeInterrupted(context, locked)
    for (const handle of Object.values(DEFAULTS)) {
      await handle(context, { locked, gateway, subject })
    }
  })
}

/** Whose it is, by our own rows only: what an event claims about ownership counts for nothing. */
async function findUser(
  context: BillingContext,
  gateway: ReadingGateway,
  { subscriptionId, customerId }: EventSubject,
): Promise<string | number | null> {
  const { name } = gateway
  if (subscriptionId) {
    const row = await context.subscriptions.findByProvider(name, subscriptionId)
    if (row) return row.userId
  }
  const locked = customerId ?? (await ownerOf(gateway, subscriptionId))
  if (locked === null) return null
  return (await context.users.findByCustomer(name, locked))?.id ?? null
}

async function ownerOf(
  gateway: ReadingGateway,
  subscriptionId: string | null,
): Promise<string | null> {
  const found = subscriptionId ? await gateway.findSubscription(subscriptionId) : null
  return found ? gateway.findOwner(found) : null
}
