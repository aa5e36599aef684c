import { expect, it, onTestFinished } from 'vitest'
import {
  type Receiver,
  SECRET,
  startReceiver,
  verify,
} from '../../../../../../test-support/webhook-receiver.ts'
import { start } from '../../../../test/support.ts'
import type { DeliveryEndpoint } from '../../../index.ts'

const TYPE = 'order.shipped'

async function receiver(): Promise<Receiver> {
  const started = await startReceiver()
  onTestFinished(started.close)
  return started
}

const sending = (endpoints: readonly Omit<DeliveryEndpoint, 'secret'>[]) =>
  start('stripe', {
    deliveries: {
      endpoints: endpoints.map((endpoint) => ({ ...endpoint, secret: SECRET })),
      applicationTypes: [TYPE],
      privateAddresses: ['127.0.0.1'],
    },
  })

const shipped = (id: string) => ({ id, type: TYPE, at: new Date(0), data: { order: 7 } })

it('billing.deliveries.send() sends an event of the application once, only to the endpoints that list its type', async () => {
  const [wanting, all] = [await receiver(), await receiver()]
  const { billing } = await sending([{ url: wanting.url, types: [TYPE] }, { url: all.url }])
  await billing.deliveries.send(shipped('shipped_1'))
  await billing.deliveries.send(shipped('shipped_1'))
  await billing.process()
  expect(all.received).toEqual([])
  expect(wanting.received).toHaveLength(1)
  const [received] = wanting.received
  expect(received && verify(SECRET, received)).toEqual({
    id: 'shipped_1',
    type: TYPE,
    timestamp: '1970-01-01T00:00:00.000Z',
    data: { order: 7 },
  })
})

it('billing.deliveries.send() records an event of the application together with the other changes of a unit of work', async () => {
  const wanting = await receiver()
  const { billing, database } = await sending([{ url: wanting.url, types: [TYPE] }])
  const failing = database.unitOfWork(async () => {
    await billing.deliveries.send(shipped('undone'))
    throw new Error('The order could not be stored')
  })
  await expect(failing).rejects.toThrow('The order could not be stored')
  await database.unitOfWork(() => billing.deliveries.send(shipped('kept')))
  await billing.process()
  expect(wanting.ids()).toEqual(['kept'])
})

it('billing.deliveries.send() rejects an event whose type is not in applicationTypes, and the error names the option', async () => {
  const { billing } = await sending([])
  const unknown = billing.deliveries.send({ ...shipped('a'), type: 'order.shiped' })
  await expect(unknown).rejects.toThrow('deliveries.applicationTypes')
  await expect(sending([{ url: 'https://a.example', types: ['order.shiped'] }])).rejects.toThrow(
    "there is no event 'order.shiped'",
  )
})

it('billing.deliveries.list() sorts by creation and page() by due date, so a delivery that is sent again comes first only in page()', async () => {
  const wanting = await receiver()
  const test = await sending([{ url: wanting.url, types: [TYPE] }])
  const { deliveries } = test.billing
  for (const id of ['first', 'second', 'third']) {
    await deliveries.send(shipped(id))
    await test.billing.process()
    await test.advance({ minutes: 1 })
  }
  const [oldest] = (await deliveries.list('done')).slice(-1)
  expect(await deliveries.resend(oldest?.id ?? 0)).toBe(true)
  await test.billing.process()
  const idsOf = (all: readonly { readonly eventId: string }[]) => all.map((each) => each.eventId)
  expect(idsOf(await deliveries.list('done'))).toEqual(['third', 'second', 'first'])
  expect(idsOf(await deliveries.page('done'))).toEqual(['first', 'third', 'second'])
  const [top] = await deliveries.page('done', { limit: 1 })
  expect(idsOf(await deliveries.page('done', { ...(top && { after: top }) }))).toEqual([
    'third',
    'second',
  ])
})
