import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers } from '../accounts.ts'
import { createOperatorHelpers } from '../admin/operators.ts'
import { startTestService, type TestService } from '../support.ts'
import { newTeam, newTeamPerson, rolesIn } from './team-people.ts'

let service: TestService
let tollgate: ReturnType<typeof createAccountHelpers>['tollgate']
beforeAll(async () => {
  service = await startTestService({ settings: { teams: true }, options: { keepDemo: true } })
  tollgate = createAccountHelpers(service).tollgate
})
afterAll(() => service?.stop())

const wanted = { plan: 'pro', provider: 'stripe', token: 'pm_card_visa' }
const isThere = async (id: string) => (await service.users.findAccount(id)) !== null

describe('the deletion of an account', () => {
  it('is refused for the last owner of a team with a subscription, names the team, and changes nothing', async () => {
    const { id, path, owner } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    const { code, stderr } = await tollgate('user', 'delete', owner.id)
    expect(code).toBe(2)
    for (const text of ['Acme', 'tollgate team role', `tollgate team delete ${id}`]) {
      expect(stderr).toContain(text)
    }
    expect((await service.users.findAccount(owner.id))?.disabledAt).toBeNull()
    expect(Object.keys(await rolesIn(service, id))).toHaveLength(3)
  })

  it('succeeds after another member was made an owner, who then gets the mail about payments', async () => {
    const { id, path, owner, member } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    expect((await tollgate('team', 'role', id, member.email, 'owner')).code).toBe(0)
    expect((await tollgate('user', 'delete', owner.id)).code).toBe(0)
    expect(await isThere(owner.id)).toBe(false)
    expect(await rolesIn(service, id)).toMatchObject({ [member.id]: 'owner' })
    expect(await service.teams.find(id)).toMatchObject({ email: member.email })
    expect(await (await service.billing.owner('team', id)).subscribed('main')).toBe(true)
  })

  it('deletes a team without a subscription, and one whose subscription was cancelled', async () => {
    const without = await newTeam(service)
    expect((await tollgate('user', 'delete', without.owner.id)).code).toBe(0)
    expect(await service.teams.find(without.id)).toBeNull()
    const { id, path, owner, admin } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    await owner.done(`${path}/billing/cancel`)
    expect((await tollgate('user', 'delete', owner.id)).code).toBe(0)
    expect([await service.teams.find(id), await service.teams.listOf(admin.id)]).toEqual([null, []])
  })

  it('ends the memberships of a person who owns no team', async () => {
    const { id, member } = await newTeam(service)
    expect((await tollgate('user', 'delete', member.id)).code).toBe(0)
    expect(Object.keys(await rolesIn(service, id))).toHaveLength(2)
  })
})

describe('operators', () => {
  it('list, show, change and delete teams with commands', async () => {
    const { id, path, owner, admin, member } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await tollgate('team', ...args, '--json')
      return code === 0 ? JSON.parse(stdout) : { code, ...JSON.parse(stderr) }
    }
    expect(await run('list', '--user', member.email)).toEqual([
      expect.objectContaining({ id, name: 'Acme', email: owner.email, provider: 'stripe' }),
    ])
    const shown = await run('show', id)
    expect(shown.members).toHaveLength(3)
    expect(shown.subscriptions[0]).toMatchObject({
      owner_type: 'team',
      owner_id: id,
      user_id: null,
      plan: 'pro',
    })
    expect((await tollgate('team', 'show', id)).stdout).toContain(admin.email)
    expect((await run('remove', id, member.email)).members).toHaveLength(2)
    expect(await run('remove', id, owner.id)).toMatchObject({ code: 2 })
    expect(await run('role', id, owner.id, 'member')).toMatchObject({ code: 2 })
    expect(await run('delete', id)).toMatchObject({
      code: 2,
      error: expect.stringContaining('renews'),
    })
    const cancelled = await tollgate('billing', 'cancel', '--owner', `team:${id}`, '--json')
    expect(JSON.parse(cancelled.stdout).states).toContain('on_grace_period')
    expect(await run('delete', id)).toEqual({ id, state: 'deleted' })
    expect(await run('show', id)).toMatchObject({ code: 2 })
  })

  it('end a running subscription with a team only if they say so', async () => {
    const { id, path, owner } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    const { providerId } = await service.billing.owner('team', id)
    expect((await tollgate('team', 'delete', id, '--subscription', 'now')).code).toBe(0)
    const all = service.sandbox?.stripe.subscriptions(providerId ?? '') ?? []
    expect(all.map(({ status }) => status)).toEqual(['canceled'])
  })

  it('need the role of each operation, and every change is in the audit log', async () => {
    const operators = createOperatorHelpers(service)
    const { id, member, stranger } = await newTeam(service)
    const changes = [
      ['PUT', `/teams/${id}/members/${member.id}/role`, { role: 'admin' }, 'admin'],
      ['DELETE', `/teams/${id}/members/${member.id}`, undefined, 'support'],
      ['POST', `/teams/${id}/delete`, {}, 'admin'],
    ] as const
    const viewer = await operators.operator('viewer')
    for (const path of ['/teams', `/teams?user_id=${stranger.id}`, `/teams/${id}`]) {
      expect((await viewer.call('GET', path)).status).toBe(200)
      expect((await stranger.browser.api(`/admin/v1${path}`)).status).toBe(403)
    }
    for (const [method, path, body, role] of changes) {
      expect((await viewer.call(method, path, { body })).status).toBe(403)
      const allowed = await operators.operator(role)
      expect([path, (await allowed.call(method, path, { body })).status]).toEqual([path, 200])
    }
    const subjects = await Promise.all(
      ['teams.setRole', 'teams.removeMember', 'teams.delete'].map(async (operation) => {
        const entries = await operators.entries(operation)
        return entries.filter((each) => each.subject_id === id && each.outcome === 'done').length
      }),
    )
    expect(subjects).toEqual([1, 1, 1])
    expect((await viewer.call('GET', '/teams/unknown')).status).toBe(404)
  })
})

describe('a team that never paid', () => {
  it('asks no provider when it is deleted', async () => {
    const ada = await newTeamPerson(service)
    const path = (await ada.done('/teams', { name: 'New' })).split('?')[0] ?? ''
    service.sandbox?.trouble.failNext(50, '500', 'stripe')
    try {
      expect(await ada.done(`${path}/delete`)).toBe('/teams?done=deleted')
    } finally {
      service.sandbox?.trouble.clear()
    }
  })

  it('is not deleted, and shown again, if the provider of its subscription does not answer', async () => {
    const { path, owner } = await newTeam(service)
    await owner.done(`${path}/billing/subscribe`, wanted)
    await owner.done(`${path}/billing/cancel`)
    service.sandbox?.trouble.failNext(50, '500', 'stripe')
    try {
      expect((await owner.post(`${path}/delete`)).status).toBe(503)
    } finally {
      service.sandbox?.trouble.clear()
    }
    expect((await owner.browser.get(path)).status).toBe(200)
  })
})
