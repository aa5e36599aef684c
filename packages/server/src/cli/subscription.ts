import type { SubscriptionJson } from '../admin/operations/subscriptions.ts'
import type { CommandContext, Outcome } from './command.ts'
import { type OpenOperations, withOperations } from './open-operations.ts'
import * as option from './options.ts'
import { requireUserId } from './person.ts'
import { UsageError } from './usage-error.ts'

/** The argument that names a person. */
export const USER = { name: 'user', description: 'the id or the e-mail address' }

/** The option that names a subscription of the person. */
export const SUBSCRIPTION = option.text(
  '<subscription>',
  'its id or name; needed if the person has several that have not ended',
)

/** A change of a subscription, and how the command describes it. */
interface SubscriptionChange {
  readonly operation: string
  readonly input?: object
  /** Describes the changed subscription, as the end of a sentence. */
  readonly describe: (changed: SubscriptionJson) => string
}

/** Reports missing keys of the providers first, then runs `work` with the operations. */
export async function withPayments(
  context: CommandContext,
  work: (opened: OpenOperations) => Promise<Outcome>,
): Promise<Outcome> {
  await context.requireSettings(['provider_keys'])
  return withOperations(context, {}, work)
}

/** Performs an operation on a subscription of a person, and prints the subscription afterwards. */
export function changeSubscription(
  { user, subscription: named }: { readonly user: string; readonly subscription: string | null },
  context: CommandContext,
  { operation, input = {}, describe }: SubscriptionChange,
): Promise<Outcome> {
  return withPayments(context, async (opened) => {
    const id = await requireUserId(opened, user)
    const { data } = await opened.perform<{ data: readonly SubscriptionJson[] }>(
      'billing.listSubscriptionsOf',
      { id },
    )
    const subscription = named === null ? findOnly(data) : findNamed(data, named)
    const changed = await opened.perform<SubscriptionJson>(operation, {
      id,
      subscription,
      ...input,
    })
    const text = `The subscription ${changed.name} (${changed.id}) of ${user} ${describe(changed)}.`
    return { json: changed, text }
  })
}

/**
 * Finds the only subscription that has not ended.
 * @throws UsageError if there is none, or several.
 */
function findOnly(all: readonly SubscriptionJson[]): number {
  const running = all.filter((each) => !isEnded(each))
  const [first, second] = running
  if (!first) throw new UsageError('The person has no subscription that has not ended')
  if (!second) return first.id
  throw new UsageError(
    `The person has several subscriptions. Give --subscription: ${listNames(running)}`,
  )
}

/** Finds a subscription by id, or the newest one with this name: a running one first. */
function findNamed(all: readonly SubscriptionJson[], named: string): number {
  const alike = all.filter(({ name }) => name === named)
  const found =
    all.find(({ id }) => String(id) === named) ?? alike.find((each) => !isEnded(each)) ?? alike[0]
  if (found) return found.id
  const known = listNames(all)
  throw new UsageError(
    `The person has no subscription ${JSON.stringify(named)}. ${known ? `Their subscriptions are ${known}` : 'They have none'}`,
  )
}

const isEnded = ({ states }: SubscriptionJson) => states.includes('ended')

const listNames = (subscriptions: readonly SubscriptionJson[]) =>
  subscriptions.map(({ id, name, plan }) => `${id} (${name}, ${plan})`).join(', ')
