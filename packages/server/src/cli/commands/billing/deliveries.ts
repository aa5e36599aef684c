import type { Deliveries, DeliveryState, StoredDelivery } from '@tollgate/billing'
import { type Command, type CommandInput, textOption, UsageError } from '../../command.ts'
import { withBilling } from './with-billing.ts'

/** Where none is in that state. */
const NONE: Readonly<Record<DeliveryState, string>> = {
  dead: 'No event was given up. `--state pending` lists those that are still tried',
  gone: 'No event is held back: no endpoint has answered 410',
  pending: 'No event waits to be sent',
  done: 'No event has arrived yet',
}

const STATES: readonly DeliveryState[] = ['dead', 'gone', 'pending', 'done']

export const billingDeliveriesList: Command = {
  summary: 'events that did not arrive at your endpoints, newest first',
  options: [
    {
      flags: '--state <name>',
      description: 'dead: given up (default), gone: held back after a 410, pending, or done',
    },
    { flags: '--endpoint <name>', description: 'only those of one' },
  ],
  async run(input, context) {
    const state = stateOf(input)
    const endpoint = textOption(input, 'endpoint')
    const config = await context.config(['providers'])
    const found = await withBilling(config, ({ deliveries }) => deliveries.list(state, 1000))
    const listed = found.filter((each) => endpoint === null || each.endpoint === endpoint)
    return {
      json: listed.map(withoutPayload),
      text: listed.map(lineOf).join('\n') || NONE[state],
    }
  },
}

export const billingDeliveriesResend: Command = {
  summary: 'send an event to your endpoint again, or all that it did not get',
  options: [
    { flags: '--id <number>', description: 'one, as the list has it' },
    { flags: '--endpoint <name>', description: 'all that were given up or held back' },
  ],
  async run(input, context) {
    const id = textOption(input, 'id')
    const endpoint = textOption(input, 'endpoint')
    if ((id === null) === (endpoint === null)) throw new UsageError('Give --id or --endpoint')
    if (id !== null && !/^\d{1,15}$/.test(id)) throw new UsageError(`--id: '${id}' is no number`)
    const config = await context.config(['providers'])
    const { resent, waiting } = await withBilling(config, ({ deliveries }) =>
      endpoint === null ? resendOne(deliveries, Number(id)) : resendAll(deliveries, endpoint),
    )
    const [last] = waiting
    return {
      json: { resent, waiting: waiting.map(withoutPayload) },
      text: last ? explain(last, { resent, waiting, isAll: id === null }) : `${resent} sent again`,
      exitCode: last ? 1 : 0,
    }
  },
}

interface Resent {
  readonly resent: number
  /** What has not arrived, newest first. */
  readonly waiting: readonly StoredDelivery[]
}

async function resendOne(deliveries: Deliveries, id: number): Promise<Resent> {
  const found = await deliveries.find(id)
  if (!found) throw new UsageError(`There is no delivery ${id}`)
  if (!deliveries.endpoints.includes(found.endpoint)) {
    throw new UsageError(
      `Delivery ${id} is for ${found.endpoint}, which is not in the settings. ${listKnown(deliveries)}. To send it to one of them, give that one the name ${found.endpoint}`,
    )
  }
  await deliveries.resend(id)
  await deliveries.process()
  const now = await deliveries.find(id)
  return { resent: 1, waiting: now && now.state !== 'done' ? [now] : [] }
}

async function resendAll(deliveries: Deliveries, endpoint: string): Promise<Resent> {
  if (!deliveries.endpoints.includes(endpoint)) {
    throw new UsageError(`There is no endpoint ${endpoint}. ${listKnown(deliveries)}`)
  }
  const resent = await deliveries.resendAll(endpoint)
  await deliveries.process()
  const unfinished = STATES.filter((state) => state !== 'done')
  const lists = await Promise.all(unfinished.map((state) => deliveries.list(state, 1000)))
  const waiting = lists.flat().filter((each) => each.endpoint === endpoint)
  return { resent, waiting: waiting.sort((a, b) => b.id - a.id) }
}

function listKnown({ endpoints }: Deliveries): string {
  return endpoints.length > 0 ? `There are: ${endpoints.join(', ')}` : 'There are none'
}

function explain(
  last: StoredDelivery,
  { resent, waiting, isAll }: Resent & { readonly isAll: boolean },
): string {
  const { id, endpoint, lastError, state, dueAt } = last
  // The service works on the same rows.
  const why = lastError ?? 'another process is sending it just now'
  if (isAll) {
    const count = `${waiting.length} ${waiting.length === 1 ? 'waits' : 'wait'}`
    return `${resent} sent again; ${count} for ${endpoint}, the newest because: ${why}`
  }
  const isTriedAgain = state === 'pending' && lastError !== null
  const next = isTriedAgain ? `. It is tried again at ${dueAt.toISOString()}` : ''
  return `Delivery ${id} has not arrived: ${why}${next}`
}

/** What was sent is for the endpoint, and may be long. */
function withoutPayload({ payload: _, ...delivery }: StoredDelivery) {
  return delivery
}

function stateOf(input: CommandInput): DeliveryState {
  const given = textOption(input, 'state') ?? 'dead'
  const state = STATES.find((each) => each === given)
  if (!state) throw new UsageError(`--state is ${STATES.join(', ')}`)
  return state
}

function lineOf({ id, createdAt, type, endpoint, attempts, lastError }: StoredDelivery): string {
  const why = lastError === null ? '' : `: ${lastError} (${attempts} attempts)`
  return `${id}  ${createdAt.toISOString()}  ${type} to ${endpoint}${why}`
}
