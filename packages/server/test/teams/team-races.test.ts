import { connect, type Database } from '@tollgate/database'
import { movableClock } from '@tollgate/oauth/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import { MAX_OWNED_TEAMS } from '../../src/teams/membership.ts'
import { TeamRefused } from '../../src/teams/team.ts'
import { createTeams, type Teams } from '../../src/teams/teams.ts'
import { createPasswords } from '../../src/users/passwords.ts'
import type { User } from '../../src/users/user.ts'
import { createUsers, type UserAccounts } from '../../src/users/users.ts'
import { serviceTables } from '../support.ts'

const cost = { memoryCost: 8, timeCost: 1, parallelism: 1 }

let test: TestDatabase
let second: Database
let users: UserAccounts
/** Two processes on one database. */
let teams: readonly [Teams, Teams]
const clock = movableClock()
beforeAll(async () => {
  test = await createTestDatabase({ template: serviceTables })
  second = await connect(test.url)
  users = createUsers({ database: test.database, passwords: createPasswords({ cost }), clock })
  teams = [
    createTeams({ database: test.database, clock }),
    createTeams({ database: second, clock }),
  ]
})
afterAll(async () => {
  await second?.close()
  await test?.drop()
})

let people = 0
const person = () =>
  users.create({ email: `racer-${++people}@example.com`, password: 'a long password' })

/** The outcome of each call: `done`, or the reason of the refusal. */
async function outcomes(calls: readonly Promise<unknown>[]): Promise<string[]> {
  const settled = await Promise.allSettled(calls)
  return settled
    .map((each) => {
      if (each.status === 'fulfilled') return 'done'
      if (each.reason instanceof TeamRefused) return each.reason.reason
      throw each.reason
    })
    .sort()
}

async function teamWith(owners: readonly User[], others: readonly User[] = []) {
  const [first, ...more] = owners
  if (!first) throw new Error('A team needs an owner')
  const { id } = await teams[0].create('Acme', first)
  for (const guest of [...more, ...others]) {
    const invited = { email: guest.email, role: 'admin' as const }
    const { token } = await teams[0].invite(id, invited, { userId: first.id })
    await teams[0].accept(token, guest)
  }
  for (const owner of more) await teams[0].setRole(id, owner.id, 'owner', { userId: first.id })
  return id
}

const ownersOf = async (id: string) =>
  (await teams[0].members(id)).filter(({ role }) => role === 'owner').length

describe('concurrent changes of a team', () => {
  it('let one of two owners leave, and keep the other (threat N10)', async () => {
    const [ada, grace] = [await person(), await person()]
    const id = await teamWith([ada, grace])
    const leave = (on: Teams, { id: userId }: User) => on.remove(id, userId, { userId })
    const found = await outcomes([leave(teams[0], ada), leave(teams[1], grace)])
    expect([found, await ownersOf(id)]).toEqual([['done', 'lastOwner'], 1])
  })

  it('let one of two owners demote the other', async () => {
    const [ada, grace] = [await person(), await person()]
    const id = await teamWith([ada, grace])
    const found = await outcomes([
      teams[0].setRole(id, grace.id, 'member', { userId: ada.id }),
      teams[1].setRole(id, ada.id, 'member', { userId: grace.id }),
    ])
    expect([found, await ownersOf(id)]).toEqual([['done', 'forbidden'], 1])
  })

  it('rename a team, unless the member was removed first', async () => {
    const [ada, grace] = [await person(), await person()]
    const id = await teamWith([ada], [grace])
    const found = await outcomes([
      teams[0].remove(id, grace.id, { userId: ada.id }),
      teams[1].rename(id, 'Emca', { userId: grace.id }),
    ])
    const isRenamed = found.every((outcome) => outcome === 'done')
    const expected = isRenamed ? ['done', 'Emca'] : ['forbidden', 'Acme']
    expect([found.at(-1), (await teams[0].find(id))?.name]).toEqual(expected)
    await teams[1].rename(id, 'Other', { userId: ada.id })
    await expect(teams[1].rename(id, 'x', { userId: grace.id })).rejects.toThrow(TeamRefused)
    expect((await teams[0].find(id))?.name).toBe('Other')
  })

  it('hand a team over once when two members are chosen at once', async () => {
    const [ada, grace, alan] = [await person(), await person(), await person()]
    const id = await teamWith([ada], [grace, alan])
    const by = { userId: ada.id }
    const found = await outcomes([
      teams[0].handOver(id, grace.id, by),
      teams[1].handOver(id, alan.id, by),
    ])
    expect([found, await ownersOf(id)]).toEqual([['done', 'forbidden'], 1])
  })

  it('accept an invitation once, however often it is sent at once (threat N10)', async () => {
    const [ada, guest] = [await person(), await person()]
    const id = await teamWith([ada])
    const invited = { email: guest.email, role: 'member' as const }
    const { token } = await teams[0].invite(id, invited, { userId: ada.id })
    const found = await outcomes([...teams, ...teams].map((on) => on.accept(token, guest)))
    expect(found).toEqual(['done', 'invitation', 'invitation', 'invitation'])
    expect(await teams[0].members(id)).toHaveLength(2)
  })

  it('leave one valid invitation if two members invite the same address', async () => {
    const [ada, grace, guest] = [await person(), await person(), await person()]
    const id = await teamWith([ada, grace])
    const invited = { email: guest.email, role: 'member' as const }
    const made = await Promise.all([
      teams[0].invite(id, invited, { userId: ada.id }),
      teams[1].invite(id, invited, { userId: grace.id }),
    ])
    expect(await teams[0].invitations(id)).toHaveLength(1)
    const found = await outcomes(made.map(({ token }) => teams[0].accept(token, guest)))
    expect(found).toEqual(['done', 'invitation'])
  })

  it('do not add a member to a team that is deleted at the same time', async () => {
    const [ada, guest] = [await person(), await person()]
    const id = await teamWith([ada])
    const invited = { email: guest.email, role: 'member' as const }
    const { token } = await teams[0].invite(id, invited, { userId: ada.id })
    await outcomes([teams[0].delete(id), teams[1].accept(token, guest)])
    expect([await teams[0].listOf(guest.id), await teams[0].members(id)]).toEqual([[], []])
  })

  it('create no more teams than a person may own', async () => {
    const ada = await person()
    for (let count = 1; count < MAX_OWNED_TEAMS; count++) await teams[0].create('Acme', ada)
    const found = await outcomes(teams.map((on) => on.create('One more', ada)))
    expect(found).toEqual(['done', 'tooMany'])
  })
})

describe('a team whose deletion was interrupted', () => {
  it('is hidden for ten minutes, and then shown to its members again', async () => {
    const ada = await person()
    const id = await teamWith([ada])
    await teams[0].close(id)
    const isShown = async () => (await teams[1].findMembership(id, ada.id)) !== null
    expect([await isShown(), await teams[1].listOf(ada.id)]).toEqual([false, []])
    clock.advance({ minutes: 11 })
    expect([await isShown(), (await teams[1].listOf(ada.id)).length]).toEqual([true, 1])
  })
})

describe('expired invitations to teams', () => {
  it('are deleted by the purge, and others stay', async () => {
    const [ada, guest] = [await person(), await person()]
    const id = await teamWith([ada])
    const invite = (email: string) =>
      teams[0].invite(id, { email, role: 'member' }, { userId: ada.id })
    await invite(guest.email)
    clock.advance({ days: 6 })
    await invite('later@example.com')
    clock.advance({ days: 2 })
    expect(await teams[0].purge()).toBeGreaterThan(0)
    const left = await test.database.kysely
      .selectFrom('team_invitations')
      .select('email')
      .where('team_id', '=', id)
      .execute()
    expect(left).toEqual([{ email: 'later@example.com' }])
  })
})
