import { isChargedByUs } from '../gateways/contract/parts/money/usage.ts'
import { requirePart } from '../gateways/contract/parts.ts'
import type { ProviderSubscription } from '../gateways/contract/subscription.ts'
import type { StoredUsage } from '../storage/queues/usage.ts'
import type { Logger } from '../values/logger.ts'
import { isOld, isTooLate } from '../values/usage.ts'
import type { SenderContext } from './send-usage.ts'

/**
 * What was used in a period that is billed already is counted by the provider, and on no bill. That is said, of the
 * subscription that the report names, else of those that are billed by its meter. What was used within the last hour is in
 * time.
 */
export async function warnOfLate(
  context: SenderContext & { readonly settings: { readonly logger: Logger } },
  sent: readonly StoredUsage[],
  now: Date,
): Promise<void> {
  const { logger } = context.settings
  const once = readOnce()
  for (const usage of sent) {
    if (!isOld(usage.at, now)) continue
    const starts = await periodStarts(context, usage, once).catch(() => null)
    const problem = problemOf(usage, starts, now)
    if (problem === null) continue
    const words = `Usage ${usage.meter} (${usage.reference}) of ${usage.at.toISOString()} ${problem}, so it is counted and not billed`
    if (logger.warn) logger.warn(words)
    else logger.error(words)
  }
}

type Once = <Found>(
  question: readonly (string | number)[],
  read: () => Promise<Found>,
) => Promise<Found>

/** Asks each question once for all reports of a batch: what is found is the same, whenever they were used. */
function readOnce(): Once {
  const found = new Map<string, Promise<unknown>>()
  return <Found>(question: readonly (string | number)[], read: () => Promise<Found>) => {
    const key = JSON.stringify(question)
    const known = (found.get(key) as Promise<Found> | undefined) ?? read()
    found.set(key, known)
    return known
  }
}

/** Why none of the subscriptions whose running periods began then bills it; null where one does, or nobody knows. */
function problemOf({ at, owner }: StoredUsage, starts: Date[] | null, now: Date): string | null {
  if (starts === null) return null
  const [first] = starts.sort((a, b) => Number(a) - Number(b))
  if (!first) return `is for no subscription: ${owner.type} ${owner.id} has none with this meter`
  if (!isTooLate(at, first, now)) return null
  return `came too late: that period was billed on ${first.toISOString()}`
}

/** When each began or, of one that is over, ended; null where the provider does not say. */
async function periodStarts(
  context: SenderContext,
  usage: StoredUsage,
  once: Once,
): Promise<Date[] | null> {
  const found = await subscriptionsOf(context, usage, once)
  if (found.length === 0 && usage.subscriptionId !== null) return null
  const starts = found.map((each) => (each.isOver ? each.endsAt : each.periodStartsAt))
  const said = starts.filter((start): start is Date => start instanceof Date)
  return said.length === starts.length ? said : null
}

/** The one that it names, else those that could bill it. Nobody is asked for what had ended when it was used. */
async function subscriptionsOf(
  { subscriptions, gateway }: SenderContext,
  { owner, provider, subscriptionId, meter, at }: StoredUsage,
  once: Once,
): Promise<ProviderSubscription[]> {
  const { type, id } = owner
  const all = await once(['rows', type, id], () => subscriptions.listByOwner(owner))
  const rows = all.filter((row) =>
    subscriptionId === null
      ? row.provider === provider && !(row.endsAt && row.endsAt <= at)
      : row.id === subscriptionId,
  )
  const asked = await gateway(provider)
  const found: ProviderSubscription[] = []
  for (const { providerId } of rows) {
    const each = await once([provider, providerId], () => asked.findSubscription(providerId))
    if (each) found.push(each)
  }
  if (subscriptionId !== null) return found
  const usage = requirePart(asked, 'usage')
  if (isChargedByUs(usage)) return found
  const isBilled = await Promise.all(
    found.map(async ({ items = [], isOver, endsAt }) => {
      if (isOver && endsAt && endsAt <= at) return false
      const metered = items.filter(({ isMetered }) => isMetered)
      const meters = await Promise.all(metered.map(({ price }) => usage.meterOf(price)))
      return meters.includes(meter)
    }),
  )
  return found.filter((_, index) => isBilled[index])
}
