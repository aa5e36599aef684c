import assert from 'node:assert/strict'
import type { Storage } from '../../storage/repositories.ts'
import { CONTRACT_START, exampleSession, secondsAfterStart } from '../contract-fixtures.ts'
import type { ContractPart } from './part.ts'

const WHEN = { dueAt: CONTRACT_START, expiresAt: secondsAfterStart(3600) }
const ids = (all: readonly { readonly sid: string }[]) => all.map(({ sid }) => sid).sort()

async function addThree({ sessions }: Storage): Promise<void> {
  await sessions.add(exampleSession)
  await sessions.add({
    ...exampleSession,
    sid: 'sid-2',
    clientId: 'client-2',
    seenAt: secondsAfterStart(5),
  })
  await sessions.add({
    ...exampleSession,
    sid: 'sid-3',
    sessionId: 'other',
    seenAt: secondsAfterStart(-5),
  })
}

/** Tests how a storage handles the sessions of clients and the logouts it queues for them. */
export const defineSessionsContract: ContractPart = ({ describe, it }, create) => {
  describe('the session repository', () => {
    it('stores a session as given, and rejects an id that already exists', async () => {
      const { sessions } = await create()
      assert.equal(await sessions.find('sid-1'), null)
      assert.equal(await sessions.add(exampleSession), true)
      assert.equal(
        await sessions.add({ ...exampleSession, createdAt: secondsAfterStart(9) }),
        false,
      )
      assert.deepEqual(await sessions.find('sid-1'), exampleSession)
    })

    it('lists the sessions of a user, most recently used first', async () => {
      const storage = await create()
      await addThree(storage)
      await storage.sessions.add({ ...exampleSession, sid: 'sid-4', userId: 'bob' })
      const listed = await storage.sessions.listByUser('ada')
      assert.deepEqual(
        listed.map(({ sid }) => sid),
        ['sid-2', 'sid-1', 'sid-3'],
      )
    })

    it('records the use of a session, unless the session has ended', async () => {
      const { sessions } = await create()
      await sessions.add(exampleSession)
      await sessions.touch('sid-1', secondsAfterStart(60), secondsAfterStart(900))
      await sessions.touch('sid-9', secondsAfterStart(60), secondsAfterStart(900))
      assert.deepEqual(await sessions.find('sid-1'), {
        ...exampleSession,
        seenAt: secondsAfterStart(60),
        liveUntil: secondsAfterStart(900),
      })
      assert.equal(await sessions.find('sid-9'), null)
    })

    it('moves the sessions of one application session to another', async () => {
      const storage = await create()
      await addThree(storage)
      await storage.sessions.move('session', 'next')
      assert.equal(await storage.sessions.end({ sessionId: 'session' }, WHEN, 10), 0)
      assert.equal(await storage.sessions.end({ sessionId: 'next' }, WHEN, 10), 2)
    })

    it('ends a session and queues a logout notification for each of its clients', async () => {
      const storage = await create()
      await addThree(storage)
      assert.equal(await storage.sessions.end({ sessionId: 'session' }, WHEN, 10), 2)
      assert.deepEqual(ids(await storage.sessions.listByUser('ada')), ['sid-3'])
      const due = await storage.logouts.listDue(CONTRACT_START, 10)
      assert.deepEqual(ids(due), ['sid-1', 'sid-2'])
      const [first] = due.filter(({ sid }) => sid === 'sid-1')
      const { clientId, userId, attempts, dueAt, expiresAt } = first ?? {}
      assert.deepEqual(
        { clientId, userId, attempts, dueAt, expiresAt },
        { clientId: 'client-1', userId: 'ada', attempts: 0, ...WHEN },
      )
    })

    it('ends the sessions of one user or of all users, a limited number at a time', async () => {
      const storage = await create()
      await addThree(storage)
      await storage.sessions.add({ ...exampleSession, sid: 'sid-4', userId: 'bob' })
      assert.equal(await storage.sessions.end({ userId: 'ada' }, WHEN, 2), 2)
      assert.equal(await storage.sessions.end({ userId: 'ada' }, WHEN, 2), 1)
      assert.equal(await storage.sessions.end({ everyone: true }, WHEN, 2), 1)
      assert.equal((await storage.logouts.listDue(CONTRACT_START, 10)).length, 4)
    })

    it('queues one logout notification for a client even if several callers end the session concurrently', async () => {
      const storage = await create()
      await storage.sessions.add(exampleSession)
      await Promise.all(
        Array.from({ length: 6 }, () => storage.sessions.end({ sessionId: 'session' }, WHEN, 10)),
      )
      assert.equal((await storage.logouts.listDue(CONTRACT_START, 10)).length, 1)
    })
  })

  describe('queued logout notifications', () => {
    async function queued() {
      const storage = await create()
      await addThree(storage)
      await storage.sessions.end({ userId: 'ada' }, WHEN, 10)
      return storage.logouts
    }

    it('are due from their scheduled time until their expiry', async () => {
      const logouts = await queued()
      assert.equal((await logouts.listDue(secondsAfterStart(-1), 10)).length, 0)
      assert.equal((await logouts.listDue(CONTRACT_START, 2)).length, 2)
      assert.deepEqual(ids(await logouts.listDue(CONTRACT_START, 1, ['client-1'])), ['sid-2'])
      assert.equal((await logouts.listDue(secondsAfterStart(3599), 10)).length, 3)
      assert.equal((await logouts.listDue(secondsAfterStart(3600), 10)).length, 0)
    })

    it('are given to only one of many concurrent callers, and become due again later', async () => {
      const logouts = await queued()
      const [logout] = await logouts.listDue(CONTRACT_START, 1)
      assert.ok(logout)
      const claims = Array.from({ length: 6 }, () => logouts.claim(logout, secondsAfterStart(30)))
      assert.equal((await Promise.all(claims)).filter(Boolean).length, 1)
      assert.equal((await logouts.listDue(CONTRACT_START, 10)).length, 2)
      const again = await logouts.listDue(secondsAfterStart(30), 10)
      assert.equal(again.find(({ id }) => id === logout.id)?.attempts, 1)
    })

    it('can be postponed for one client, and deleted', async () => {
      const logouts = await queued()
      await logouts.postpone('client-1', secondsAfterStart(30))
      assert.deepEqual(ids(await logouts.listDue(CONTRACT_START, 10)), ['sid-2'])
      const due = await logouts.listDue(secondsAfterStart(30), 10)
      assert.equal(due.length, 3)
      for (const { id } of due) await logouts.remove(id)
      assert.equal((await logouts.listDue(secondsAfterStart(30), 10)).length, 0)
    })

    it('are deleted by purge() after they expired, as are sessions', async () => {
      const storage = await create()
      await addThree(storage)
      await storage.sessions.end({ sessionId: 'other' }, WHEN, 10)
      assert.equal(await storage.purge(secondsAfterStart(599), 10), 0)
      assert.equal(await storage.purge(secondsAfterStart(4000), 10), 3)
    })
  })
}
