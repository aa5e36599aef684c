import type { Logger } from '../../core/values/logger.ts'
import { requireGatewayPart } from '../../providers/gateway-parts.ts'
import type { ProviderSubscription } from '../../providers/subscription.ts'
import { isChargedByUs } from './contract.ts'
import type { UsageSenderContext } from './send-usage.ts'
import type { StoredUsage } from './usage-rows.ts'
import { isUsageTooLate, mayUsageBeTooLate } from './usage-value.ts'

/**
 * Logs a warning for usage reports that were sent too late: the provider counts them, but does not
 * bill them, because their billing period was already billed. Checks the subscription that the
 * report names, otherwise all subscriptions that are billed by its meter. Usage of the last hour is
 * never too late.
 */
export async function logLateUsage(
  context: UsageSenderContext & { readonly settings: { readonly logger: Logger } },
  sent: readonly StoredUsage[],
  now: Date,
): Promise<void> {
  const { logger } = context.settings
  const once = createReadCache()
  for (const usage of sent) {
    if (!mayUsageBeTooLate(usage.at, now)) continue
    const starts = await readPeriodStarts(context, usage, once).catch(() => null)
    const problem = describeLateUsage(usage, starts, now)
    if (problem === null) continue
    const words = `Usage ${usage.meter} (${usage.reference}) of ${usage.at.toISOString()} ${problem}, so it is counted but not billed`
    if (logger.warn) logger.warn(words)
    else logger.error(words)
  }
}

type ReadCache = <Found>(
  question: readonly (string | number)[],
  read: () => Promise<Found>,
) => Promise<Found>

/**
 * Caches reads for all reports of a batch, because the result does not depend on the time of the
 * usage.
 */
function createReadCache(): ReadCache {
  const found = new Map<string, Promise<unknown>>()
  return <Found>(question: readonly (string | number)[], read: () => Promise<Found>) => {
    const key = JSON.stringify(question)
    const known = (found.get(key) as Promise<Found> | undefined) ?? read()
    found.set(key, known)
    return known
  }
}

/**
 * Describes why no subscription bills this usage, given the starts of their current periods. `null`
 * if one does, or if that is unknown.
 */
function describeLateUsage(
  { at, owner }: StoredUsage,
  starts: Date[] | null,
  now: Date,
): string | null {
  if (starts === null) return null
  const [first] = starts.sort((a, b) => Number(a) - Number(b))
  if (!first)
    return `belongs to no subscription: ${owner.type} ${owner.id} has none with this meter`
  if (!isUsageTooLate(at, first, now)) return null
  return `was reported too late: its period was billed on ${first.toISOString()}`
}

/**
 * Returns when the current period of each subscription began, or when it ended. `null` if the
 * provider does not report it.
 */
async function readPeriodStarts(
  context: UsageSenderContext,
  usage: StoredUsage,
  once: ReadCache,
): Promise<Date[] | null> {
  const found = await findBillingSubscriptions(context, usage, once)
  if (found.length === 0 && usage.subscriptionId !== null) return null
  const starts = found.map((each) => (each.isOver ? each.endsAt : each.periodStartsAt))
  const said = starts.filter((start): start is Date => start instanceof Date)
  return said.length === starts.length ? said : null
}

/**
 * Finds the subscription that the report names, otherwise those that could bill it. Subscriptions
 * that had ended before the time of the usage are not read from the provider.
 */
async function findBillingSubscriptions(
  { subscriptions, gateway }: UsageSenderContext,
  { owner, provider, subscriptionId, meter, at }: StoredUsage,
  once: ReadCache,
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
  const usage = requireGatewayPart(asked, 'usage')
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
