import type { SubscriptionJson } from '../admin/operations/subscriptions.ts'
import type { CommandContext, CommandResult } from './command.ts'
import { type OpenOperations, withOperations } from './open-operations.ts'
import * as option from './options.ts'
import { type NamedOwner, requireOwner } from './owner.ts'
import { UsageError } from './usage-error.ts'

/** The option that names a subscription of the owner. */
export const SUBSCRIPTION_OPTION = option.text(
  '<subscription>',
  'its id or name; needed if there are several that have not ended',
)

/** The owner that a command names, by the argument or by `--owner`. */
export type OwnerChoice = Parameters<typeof requireOwner>[1]

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
  work: (opened: OpenOperations) => Promise<CommandResult>,
): Promise<CommandResult> {
  await context.requireSettings(['provider_keys'])
  return withOperations(context, {}, work)
}

/** Runs `work` with the operations on payments, and with the owner that the command names. */
export function withOwner(
  chosen: OwnerChoice,
  context: CommandContext,
  work: (owner: NamedOwner, opened: OpenOperations) => Promise<CommandResult>,
): Promise<CommandResult> {
  return withPayments(context, async (opened) => work(await requireOwner(opened, chosen), opened))
}

/** Performs an operation on a subscription of an owner, and prints the subscription afterwards. */
export function changeSubscription(
  { subscription: named, ...chosen }: OwnerChoice & { readonly subscription: string | null },
  context: CommandContext,
  { operation, input = {}, describe }: SubscriptionChange,
): Promise<CommandResult> {
  return withOwner(chosen, context, async ({ owner, label }, opened) => {
    const { data } = await opened.perform<{ data: readonly SubscriptionJson[] }>(
      'billing.listSubscriptionsOf',
      { owner },
    )
    const subscription = named === null ? findOnly(data, label) : findNamed(data, named, label)
    const changed = await opened.perform<SubscriptionJson>(operation, {
      owner,
      subscription,
      ...input,
    })
    const text = `The subscription ${changed.name} (${changed.id}) of ${chosen.owner ?? chosen.user} ${describe(changed)}.`
    return { json: changed, text }
  })
}

/**
 * Finds the only subscription that has not ended.
 * @throws UsageError if there is none, or several.
 */
function findOnly(all: readonly SubscriptionJson[], label: string): number {
  const running = all.filter((each) => !isEnded(each))
  const [first, second] = running
  if (!first) throw new UsageError(`${label} has no subscription that has not ended`)
  if (!second) return first.id
  throw new UsageError(
    `${label} has several subscriptions. Give --subscription: ${listNames(running)}`,
  )
}

/** Finds a subscription by id, or the newest one with this name: a running one first. */
function findNamed(all: readonly SubscriptionJson[], named: string, label: string): number {
  const alike = all.filter(({ name }) => name === named)
  const found =
    all.find(({ id }) => String(id) === named) ?? alike.find((each) => !isEnded(each)) ?? alike[0]
  if (found) return found.id
  const known = listNames(all)
  throw new UsageError(
    `${label} has no subscription ${JSON.stringify(named)}. ${known ? `Their subscriptions are ${known}` : 'They have none'}`,
  )
}

const isEnded = ({ states }: SubscriptionJson) => states.includes('ended')

const listNames = (subscriptions: readonly SubscriptionJson[]) =>
  subscriptions.map(({ id, name, plan }) => `${id} (${name}, ${plan})`).join(', ')
