import assert from 'node:assert/strict'
import { UNUSED_CLIENT, unusedTicket } from '../../storage/tickets.ts'
import { CONTRACT_START, client, secondsAfterStart, ticket } from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** Tests how a storage handles short-lived tickets. */
export const ticketsContract: ContractPart = ({ describe, it }, create) => {
  describe('the repository of short-lived tickets', () => {
    it('stores a ticket as given, and rejects a hash that already exists', async () => {
      const { tickets } = await create()
      assert.equal(await tickets.find(ticket.hash), null)
      assert.equal(await tickets.add(ticket), true)
      assert.equal(await tickets.add({ ...ticket, content: 'other' }), false)
      assert.deepEqual(await tickets.find(ticket.hash), ticket)
    })

    it('adds a ticket for only one of many concurrent callers', async () => {
      const { tickets } = await create()
      const added = await Promise.all(Array.from({ length: 8 }, () => tickets.add(ticket)))
      assert.equal(added.filter(Boolean).length, 1)
    })

    it('lets only one of many concurrent callers use up a ticket', async () => {
      const { tickets } = await create()
      await tickets.add(ticket)
      const taken = await Promise.all(Array.from({ length: 8 }, () => tickets.take(ticket.hash)))
      assert.deepEqual(
        taken.filter((each) => each !== null),
        [ticket],
      )
      assert.equal(await tickets.find(ticket.hash), null)
    })

    it('changes a ticket for only one of many concurrent callers that expect the same content', async () => {
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

    it('deletes expired tickets, and all tickets when endEverything() is called', async () => {
      const storage = await create()
      await storage.tickets.add(ticket)
      await storage.tickets.add({ ...ticket, hash: 'old', expiresAt: secondsAfterStart(-10) })
      assert.equal(await storage.purgeExpired(CONTRACT_START, 10), 1)
      assert.equal(await storage.tickets.find('old'), null)
      await storage.endAll(CONTRACT_START)
      assert.equal(await storage.tickets.find(ticket.hash), null)
    })

    it('changes the expiry and the holder of a ticket together with its content', async () => {
      const { tickets } = await create()
      await tickets.add({ ...ticket, holder: 'a' })
      const also = { expiresAt: secondsAfterStart(600), holder: null }
      assert.equal(await tickets.change(ticket.hash, 'other', 'new', also), false)
      assert.equal(await tickets.countHeld(ticket.kind, 'a'), 1)
      assert.equal(await tickets.change(ticket.hash, ticket.content, 'new', also), true)
      assert.deepEqual(await tickets.find(ticket.hash), { ...ticket, ...also, content: 'new' })
      assert.equal(await tickets.countHeld(ticket.kind, 'a'), 0)
    })

    it('counts the tickets of one kind by holder, largest number first', async () => {
      const { tickets } = await create()
      const held = ['a', 'b', 'b', 'c', 'c', 'c', null]
      for (const [index, holder] of held.entries()) {
        await tickets.add({ ...ticket, hash: `ticket ${index}`, holder })
      }
      await tickets.add({ ...ticket, hash: 'other', kind: 'other', holder: 'a' })
      assert.equal(await tickets.countHeld(ticket.kind, 'b'), 2)
      assert.equal(await tickets.countHeld(ticket.kind, 'nobody'), 0)
      assert.equal(await tickets.countAllHeld(ticket.kind), 6)
      assert.deepEqual(await tickets.listHolders(ticket.kind, 2), [
        { holder: 'c', count: 3 },
        { holder: 'b', count: 2 },
      ])
    })

    it('deletes the tickets of a holder that expire first, and none that have no holder', async () => {
      const { tickets } = await create()
      const ends = [30, 10, 20]
      for (const end of ends) {
        await tickets.add({
          ...ticket,
          hash: `a ${end}`,
          holder: 'a',
          expiresAt: secondsAfterStart(end),
        })
      }
      await tickets.add({ ...ticket, hash: 'b 5', holder: 'b', expiresAt: secondsAfterStart(5) })
      await tickets.add({ ...ticket, hash: 'used', expiresAt: secondsAfterStart(1) })
      assert.equal(await tickets.evict(ticket.kind, 'a', 2), 2)
      const left = ['a 30', 'b 5', 'used']
      for (const hash of ['a 30', 'a 10', 'a 20', 'b 5', 'used']) {
        assert.equal((await tickets.find(hash)) !== null, left.includes(hash))
      }
      assert.equal(await tickets.evict(ticket.kind, 'a', 10), 1)
      assert.equal(await tickets.evict(ticket.kind, 'a', 10), 0)
    })

    it('deletes an unused client together with its ticket, and keeps a used client', async () => {
      const storage = await create()
      const until = secondsAfterStart(10).getTime()
      const by = 'registration' as const
      const unused = { ...client, settings: { self_registered: { by, unused_until: until } } }
      const used = { ...client, id: 'used', settings: { self_registered: { by } } }
      for (const each of [unused, used]) {
        await storage.clients.create(each)
        await storage.tickets.add({ ...unusedTicket({ clientId: each.id, until }), holder: 'a' })
      }
      assert.equal(await storage.tickets.evict(UNUSED_CLIENT, 'a', 10), 2)
      assert.equal(await storage.clients.find(unused.id), null)
      assert.deepEqual(await storage.clients.find(used.id), used)
    })

    it('deletes an unused client together with its expired ticket, unless the client has changed', async () => {
      const storage = await create()
      const until = secondsAfterStart(-10).getTime()
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
        registered('open', secondsAfterStart(10).getTime()),
      ]
      for (const each of [gone, used, renewed, open]) await storage.clients.create(each)
      const expired = [gone, used, renewed]
      for (const { id } of expired) {
        await storage.tickets.add({ ...unusedTicket({ clientId: id, until }), holder: null })
      }
      const last = {
        ...unusedTicket({ clientId: open.id, until: secondsAfterStart(10).getTime() }),
        holder: null,
      }
      await storage.tickets.add(last)
      await storage.endAll(CONTRACT_START)
      assert.equal(await storage.purge(CONTRACT_START, 10), 0)
      assert.equal(await storage.purgeExpired(CONTRACT_START, 10), 3)
      assert.equal(await storage.clients.find('gone'), null)
      for (const each of [used, renewed, open]) {
        assert.deepEqual(await storage.clients.find(each.id), each)
      }
      assert.deepEqual(await storage.tickets.find(last.hash), last)
    })
  })
}
