import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let tollgate: ReturnType<typeof createAccountHelpers>['tollgate']
beforeAll(async () => {
  service = await startTestService({ options: { keepDemo: true } })
  tollgate = createAccountHelpers(service).tollgate
})
afterAll(() => service?.stop())

describe('the command tollgate audit', () => {
  it('lists, verifies and exports the actions of operators', async () => {
    const operators = createOperatorHelpers(service)
    const support = await operators.operator('support')
    const person = await operators.person()
    for (let at = 0; at < 3; at += 1) await support.call('POST', `/users/${person.id}/sign-out`)
    await service.auditChain.process()

    const list = await tollgate('audit', 'list', '--actor', `operator:${support.id}`)
    expect(list).toMatchObject({ code: 0, stderr: '' })
    expect(list.stdout.match(/users\.signOut +done +user:/g)).toHaveLength(3)
    expect(list.stdout).toContain(support.email)
    const page = await tollgate('audit', 'list', '--owner', person.id, '--limit', '2', '--json')
    expect(JSON.parse(page.stdout)).toHaveLength(2)
    const cursor = /--after (\S+)/.exec(page.stderr)?.[1] ?? ''
    const rest = ['--owner', person.id, '--limit', '2', '--after', cursor, '--json']
    expect(JSON.parse((await tollgate('audit', 'list', ...rest)).stdout)).toHaveLength(1)

    const exported = await tollgate('audit', 'export', '--operation', 'users.signOut')
    const lines = exported.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines).toHaveLength(3)
    expect(exported.stdout).not.toContain(support.email)
    const personal = await tollgate('audit', 'export', '--owner', person.id, '--personal')
    expect(personal.stdout).toContain(support.email)

    const verified = await tollgate('audit', 'verify')
    expect(verified.code).toBe(0)
    const head = /(\d+:[\w-]{43})/.exec(verified.stdout)?.[1] ?? ''
    expect((await tollgate('audit', 'verify', '--from', head)).stdout).toContain('0 entries')
    await service.database.kysely.deleteFrom('audit_entries').where('number', '=', 3).execute()
    const cut = await tollgate('audit', 'verify', '--known', head, '--json')
    expect(cut.code).toBe(1)
    expect(JSON.parse(cut.stdout)).toMatchObject({ break: { kind: 'missing', number: 3 } })
  })

  it.each([
    ['list', '--actor', 'seven'],
    ['verify', '--known', '3'],
    ['list', '--outcome', 'maybe'],
  ])('explains an invalid option: %s %s', async (...args) => {
    const { code, stderr } = await tollgate('audit', ...args)
    expect(code).toBe(2)
    expect(stderr).toContain(args[1])
  })
})
