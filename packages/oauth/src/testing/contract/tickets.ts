import assert from 'node:assert/strict'
import { createUnusedClientTicket, UNUSED_CLIENT } from '../../storage/tickets.ts'
import {
  CONTRACT_START,
  exampleClient,
  exampleTicket,
  secondsAfterStart,
} from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

/** Tests how a storage handles short-lived tickets. */
export const defineTicketsContract: ContractPart = ({ describe, it }, create) => {
  describe('the repository of short-lived tickets', () => {
    it('stores a ticket as given, and rejects a hash that already exists', async () => {
      const { tickets } = await create()
      assert.equal(await tickets.find(exampleTicket.hash), null)
      assert.equal(await tickets.add(exampleTicket), true)
      assert.equal(await tickets.add({ ...exampleTicket, content: 'other' }), false)
      assert.deepEqual(await tickets.find(exampleTicket.hash), exampleTicket)
    })

    it('adds a ticket for only one of many concurrent callers', async () => {
      const { tickets } = await create()
      const added = await Promise.all(Array.from({ length: 8 }, () => tickets.add(exampleTicket)))
      assert.equal(added.filter(Boolean).length, 1)
    })

    it('lets only one of many concurrent callers use up a ticket', async () => {
      const { tickets } = await create()
      await tickets.add(exampleTicket)
      const taken = await Promise.all(
        Array.from({ length: 8 }, () => tickets.take(exampleTicket.hash)),
      )
      assert.deepEqual(
        taken.filter((each) => each !== null),
        [exampleTicket],
      )
      assert.equal(await tickets.find(exampleTicket.hash), null)
    })

    it('changes a ticket for only one of many concurrent callers that expect the same content', async () => {
      const { tickets } = await create()
      await tickets.add(exampleTicket)
      const changes = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          tickets.change(exampleTicket.hash, exampleTicket.content, `changed ${index}`),
        ),
      )
      assert.equal(changes.filter(Boolean).length, 1)
      const { content } = (await tickets.find(exampleTicket.hash)) ?? exampleTicket
      assert.equal(content, `changed ${changes.indexOf(true)}`)
      assert.equal(await tickets.change('none', content, 'x'), false)
    })

    it('deletes expired tickets, and all tickets when endEverything() is called', async () => {
      const storage = await create()
      await storage.tickets.add(exampleTicket)
      await storage.tickets.add({
        ...exampleTicket,
        hash: 'old',
        expiresAt: secondsAfterStart(-10),
      })
      assert.equal(await storage.purgeExpired(CONTRACT_START, 10), 1)
      assert.equal(await storage.tickets.find('old'), null)
      await storage.endAll(CONTRACT_START)
      assert.equal(await storage.tickets.find(exampleTicket.hash), null)
    })

    it('changes the expiry and the holder of a ticket together with its content', async () => {
      const { tickets } = await create()
      await tickets.add({ ...exampleTicket, holder: 'a' })
      const also = { expiresAt: secondsAfterStart(600), holder: null }
      assert.equal(await tickets.change(exampleTicket.hash, 'other', 'new', also), false)
      assert.equal(await tickets.countHeld(exampleTicket.kind, 'a'), 1)
      assert.equal(
        await tickets.change(exampleTicket.hash, exampleTicket.content, 'new', also),
        true,
      )
      assert.deepEqual(await tickets.find(exampleTicket.hash), {
        ...exampleTicket,
        ...also,
        content: 'new',
      })
      assert.equal(await tickets.countHeld(exampleTicket.kind, 'a'), 0)
    })

    it('counts the tickets of one kind by holder, largest number first', async () => {
      const { tickets } = await create()
      const held = ['a', 'b', 'b', 'c', 'c', 'c', null]
      for (const [index, holder] of held.entries()) {
        await tickets.add({ ...exampleTicket, hash: `ticket ${index}`, holder })
      }
      await tickets.add({ ...exampleTicket, hash: 'other', kind: 'other', holder: 'a' })
      assert.equal(await tickets.countHeld(exampleTicket.kind, 'b'), 2)
      assert.equal(await tickets.countHeld(exampleTicket.kind, 'nobody'), 0)
      assert.equal(await tickets.countAllHeld(exampleTicket.kind), 6)
      assert.deepEqual(await tickets.listHolders(exampleTicket.kind, 2), [
        { holder: 'c', count: 3 },
        { holder: 'b', count: 2 },
      ])
    })

    it('deletes the tickets of a holder that expire first, and none that have no holder', async () => {
      const { tickets } = await create()
      const ends = [30, 10, 20]
      for (const end of ends) {
        await tickets.add({
          ...exampleTicket,
          hash: `a ${end}`,
          holder: 'a',
          expiresAt: secondsAfterStart(end),
        })
      }
      await tickets.add({
        ...exampleTicket,
        hash: 'b 5',
        holder: 'b',
        expiresAt: secondsAfterStart(5),
      })
      await tickets.add({ ...exampleTicket, hash: 'used', expiresAt: secondsAfterStart(1) })
      assert.equal(await tickets.evict(exampleTicket.kind, 'a', 2), 2)
      const left = ['a 30', 'b 5', 'used']
      for (const hash of ['a 30', 'a 10', 'a 20', 'b 5', 'used']) {
        assert.equal((await tickets.find(hash)) !== null, left.includes(hash))
      }
      assert.equal(await tickets.evict(exampleTicket.kind, 'a', 10), 1)
      assert.equal(await tickets.evict(exampleTicket.kind, 'a', 10), 0)
    })

    it('deletes an unused client together with its ticket, and keeps a used client', async () => {
      const storage = await create()
      const until = secondsAfterStart(10).getTime()
      const by = 'registration' as const
      const unused = {
        ...exampleClient,
        settings: { self_registered: { by, unused_until: until } },
      }
      const used = { ...exampleClient, id: 'used', settings: { self_registered: { by } } }
      for (const each of [unused, used]) {
        await storage.clients.create(each)
        await storage.tickets.add({
          ...createUnusedClientTicket({ clientId: each.id, until }),
          holder: 'a',
        })
      }
      assert.equal(await storage.tickets.evict(UNUSED_CLIENT, 'a', 10), 2)
      assert.equal(await storage.clients.find(unused.id), null)
      assert.deepEqual(await storage.clients.find(used.id), used)
    })

    it('deletes an unused client together with its expired ticket, unless the client has changed', async () => {
      const storage = await create()
      const until = secondsAfterStart(-10).getTime()
      const registered = (id: string, unused_until?: number) => ({
        ...exampleClient,
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
        await storage.tickets.add({
          ...createUnusedClientTicket({ clientId: id, until }),
          holder: null,
        })
      }
      const last = {
        ...createUnusedClientTicket({ clientId: open.id, until: secondsAfterStart(10).getTime() }),
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
