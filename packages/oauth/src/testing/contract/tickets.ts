import assert from 'node:assert/strict'
import { unusedTicket } from '../../storage/unused-client.ts'
import { client, later, T0, ticket } from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** What a store must do for what lives for a short time. */
export const ticketsContract: ContractPart = ({ describe, it }, create) => {
  describe('tickets', () => {
    it('keeps what it was given, and nothing twice', async () => {
      const { tickets } = await create()
      assert.equal(await tickets.find(ticket.hash), null)
      assert.equal(await tickets.add(ticket), true)
      assert.equal(await tickets.add({ ...ticket, content: 'other' }), false)
      assert.deepEqual(await tickets.find(ticket.hash), ticket)
    })

    it('takes one of many that add the same at once', async () => {
      const { tickets } = await create()
      const added = await Promise.all(Array.from({ length: 8 }, () => tickets.add(ticket)))
      assert.equal(added.filter(Boolean).length, 1)
    })

    it('gives one to a single caller', async () => {
      const { tickets } = await create()
      await tickets.add(ticket)
      const taken = await Promise.all(Array.from({ length: 8 }, () => tickets.take(ticket.hash)))
      assert.deepEqual(
        taken.filter((each) => each !== null),
        [ticket],
      )
      assert.equal(await tickets.find(ticket.hash), null)
    })

    it('is changed by one of many who have read the same', async () => {
      const { tickets } = await create()
      await tickets.add(ticket)
      const changes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          tickets.change(ticket.hash, ticket.content, `changed ${index}`),
        ),
      )
      assert.equal(changes.filter(Boolean).length, 1)
      const { content } = (await tickets.find(ticket.hash)) ?? ticket
      assert.equal(content, `changed ${changes.indexOf(true)}`)
      assert.equal(await tickets.change('none', content, 'x'), false)
    })

    it('goes when it has expired, and when everything ends', async () => {
      const storage = await create()
      await storage.tickets.add(ticket)
      await storage.tickets.add({ ...ticket, hash: 'old', expiresAt: later(-10) })
      assert.equal(await storage.purge(T0, 10), 1)
      assert.equal(await storage.tickets.find('old'), null)
      await storage.endAll(T0)
      assert.equal(await storage.tickets.find(ticket.hash), null)
    })

    it('takes the client along that nobody has used, if it has not changed', async () => {
      const storage = await create()
      const until = later(-10).getTime()
      const registered = (id: string, unused_until?: number) => ({
        ...client,
        id,
        settings: {
          self_registered: {
            by: 'registration' as const,
            ...(unused_until !== undefined && { unused_until }),
          },
        },
      })
      const [gone, used, renewed, open] = [
        registered('gone', until),
        registered('used'),
        registered('renewed', until + 1),
        registered('open', later(10).getTime()),
      ]
      for (const each of [gone, used, renewed, open]) await storage.clients.create(each)
      const expired = [gone, used, renewed]
      for (const { id } of expired) await storage.tickets.add(unusedTicket({ clientId: id, until }))
      const last = unusedTicket({ clientId: open.id, until: later(10).getTime() })
      await storage.tickets.add(last)
      await storage.endAll(T0)
      assert.equal(await storage.purge(T0, 10), 3)
      assert.equal(await storage.clients.find('gone'), null)
      for (const each of [used, renewed, open]) {
        assert.deepEqual(await storage.clients.find(each.id), each)
      }
      assert.deepEqual(await storage.tickets.find(last.hash), last)
    })
  })
}
