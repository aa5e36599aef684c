import type { Deliveries, DeliveryState, StoredDelivery } from '@tollgate/billing'
import { type Commands, command } from '../command.ts'
import { withBilling } from '../open-billing.ts'
import { type OpenOperations, withOperations } from '../open-operations.ts'
import * as option from '../options.ts'
import { formatTable } from '../table.ts'
import { UsageError } from '../usage-error.ts'

/** Text for an empty list of deliveries, by state. */
const NONE: Readonly<Record<DeliveryState, string>> = {
  dead: 'No event failed at every attempt. `--state pending` lists events that are still being retried',
  gone: 'No event is on hold: no endpoint has answered 410',
  pending: 'No event is pending',
  done: 'No event has been delivered yet',
}

const STATES: readonly DeliveryState[] = ['dead', 'gone', 'pending', 'done']

export const deliveryCommands: Commands = {
  'billing deliveries list': command({
    summary: 'list events that were not delivered to your endpoints, newest first',
    withConfig: true,
    options: {
      state: option.choice(
        STATES,
        '<name>',
        'dead: failed at every attempt (default), gone: on hold after a 410, pending, or done',
      ),
      endpoint: option.text('<name>', 'only those for this endpoint'),
    },
    async run({ options: { state: given, endpoint } }, context) {
      const state = given ?? 'dead'
      const found = await withBilling(context, ['providers'], ({ deliveries }) =>
        deliveries.list(state, 1000),
      )
      const listed = found.filter((each) => endpoint === null || each.endpoint === endpoint)
      return {
        json: listed.map(withoutPayload),
        text: formatTable(HEADERS, listed.map(rowOf), NONE[state]),
      }
    },
  }),
  'billing deliveries resend': command({
    summary: 'send one event again, or all that an endpoint has not received',
    withConfig: true,
    options: {
      id: option.text('<number>', 'id of one event in the list'),
      endpoint: option.text('<name>', 'all that failed or are on hold for this endpoint'),
    },
    async run({ options: { id, endpoint } }, context) {
      if ((id === null) === (endpoint === null)) throw new UsageError('Give --id or --endpoint')
      if (id !== null && !/^\d{1,15}$/.test(id))
        throw new UsageError(`--id: '${id}' is not a number`)
      await context.requireSettings(['providers'])
      const { resent, waiting } = await withOperations(context, { needsUrl: true }, (opened) =>
        endpoint === null ? resendOne(opened, Number(id)) : resendAll(opened, endpoint),
      )
      const [last] = waiting
      return {
        json: { resent, waiting: waiting.map(withoutPayload) },
        text: last
          ? explainFailedDelivery(last, { resent, waiting, isAll: id === null })
          : `${resent} sent again`,
        exitCode: last ? 1 : 0,
      }
    },
  }),
}

interface ResendResult {
  readonly resent: number
  /** Events that have not been delivered, newest first. */
  readonly waiting: readonly StoredDelivery[]
}

async function resendOne({ billing, perform }: OpenOperations, id: number): Promise<ResendResult> {
  const provider = await billing.provider()
  const { deliveries } = provider
  const found = await deliveries.find(id)
  if (!found) throw new UsageError(`There is no delivery ${id}`)
  if (!deliveries.endpoints.includes(found.endpoint)) {
    throw new UsageError(
      `Delivery ${id} is for the endpoint ${found.endpoint}, which is not configured. ${listKnown(deliveries)}. To send it to one of these, set the name of that endpoint to ${found.endpoint}`,
    )
  }
  await perform('webhooks.resend', { delivery: id })
  await provider.process()
  const now = await deliveries.find(id)
  return { resent: 1, waiting: now && now.state !== 'done' ? [now] : [] }
}

async function resendAll(
  { billing, perform }: OpenOperations,
  endpoint: string,
): Promise<ResendResult> {
  const provider = await billing.provider()
  const { deliveries } = provider
  if (!deliveries.endpoints.includes(endpoint)) {
    throw new UsageError(`There is no endpoint ${endpoint}. ${listKnown(deliveries)}`)
  }
  const { resent } = await perform<{ resent: number }>('webhooks.resendAll', { endpoint })
  await provider.process()
  const unfinished = STATES.filter((state) => state !== 'done')
  const lists = await Promise.all(unfinished.map((state) => deliveries.list(state, 1000)))
  const waiting = lists.flat().filter((each) => each.endpoint === endpoint)
  return { resent, waiting: waiting.sort((a, b) => b.id - a.id) }
}

function listKnown({ endpoints }: Deliveries): string {
  return endpoints.length > 0
    ? `Configured endpoints: ${endpoints.join(', ')}`
    : 'No endpoint is configured'
}

function explainFailedDelivery(
  last: StoredDelivery,
  { resent, waiting, isAll }: ResendResult & { readonly isAll: boolean },
): string {
  const { id, endpoint, lastError, state, dueAt } = last
  // The running service processes the same rows.
  const why = lastError ?? 'another process is sending it now'
  if (isAll) {
    return `${resent} sent again; ${waiting.length} still not delivered to ${endpoint}. Reason for the newest: ${why}`
  }
  const isTriedAgain = state === 'pending' && lastError !== null
  const next = isTriedAgain ? `. The next attempt is at ${dueAt.toISOString()}` : ''
  return `Delivery ${id} has not succeeded: ${why}${next}`
}

/** Leaves out the payload: it is meant for the endpoint only, and may be long. */
function withoutPayload({ payload: _, ...delivery }: StoredDelivery) {
  return delivery
}

const HEADERS = ['ID', 'CREATED', 'TYPE', 'ENDPOINT', 'ATTEMPTS', 'ERROR']

function rowOf({ id, createdAt, type, endpoint, attempts, lastError }: StoredDelivery): string[] {
  return [String(id), createdAt.toISOString(), type, endpoint, String(attempts), lastError ?? '']
}
