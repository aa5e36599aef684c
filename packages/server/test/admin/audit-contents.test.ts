import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { formatCanonicalJson } from '../../src/admin/audit/canonical.ts'
import { OPERATIONS } from '../../src/admin/operations/all.ts'
import { newAddress } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { createOperatorHelpers } from './operators.ts'

let service: TestService
let operators: ReturnType<typeof createOperatorHelpers>
type Operator = Awaited<ReturnType<typeof operators.operator>>
let admin: Operator
let owner: Operator
beforeAll(async () => {
  service = await startTestService()
  operators = createOperatorHelpers(service)
  admin = await operators.operator('admin')
  owner = await operators.operator('owner')
})
afterAll(() => service?.stop())

/** Reads an export as text, as the JSON lines that they are. */
async function exportLines(query = '') {
  const headers = { origin: service.url, 'x-csrf-token': await admin.browser.csrfToken() }
  const response = await admin.browser.request(`/admin/v1/audit/export${query}`, { headers })
  const text = await response.text()
  return {
    response,
    text,
    lines: text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  }
}

/** Reads every column of the tables of the audit log. */
async function everything(): Promise<string> {
  const { kysely } = service.database
  const tables = ['audit_entries', 'audit_personal', 'admin_requests'] as const
  const rows = await Promise.all(
    tables.map((table) => kysely.selectFrom(table).selectAll().execute()),
  )
  return JSON.stringify(rows)
}

describe('the audit log in the management API', () => {
  it('lists the actions of operators page by page, newest first, with every filter', async () => {
    const [one, two] = [await operators.person(), await operators.person()]
    const support = await operators.operator('support')
    for (const { id } of [one, two]) await support.call('POST', `/users/${id}/sign-out`)
    await support.call('POST', `/users/${one.id}/disable`, { body: {} })
    await support.call('POST', `/users/${one.id}/delete`, { body: {} })

    const list = async (query: string) => {
      const { status, body } = await admin.call('GET', `/audit/entries?${query}`)
      expect(status).toBe(200)
      return body.data.map((each: { operation: string; outcome: string }) => [
        each.operation,
        each.outcome,
      ])
    }
    expect(await list(`actor_kind=operator&actor_id=${support.id}`)).toEqual([
      ['users.delete', 'refused'],
      ['users.disable', 'done'],
      ['users.disable', 'started'],
      ['users.signOut', 'done'],
      ['users.signOut', 'done'],
    ])
    expect(await list(`owner=${one.id}`)).toHaveLength(3)
    expect(await list(`subject_kind=user&subject_id=${two.id}`)).toEqual([
      ['users.signOut', 'done'],
    ])
    expect(await list(`operation=users.disable&owner=${one.id}`)).toHaveLength(2)
    expect(await list(`outcome=refused&actor_kind=operator&actor_id=${support.id}`)).toHaveLength(1)
    const now = service.clock.now().toISOString()
    expect(await list(`owner=${one.id}&to=${now}`)).toEqual([])
    expect(await list(`owner=${one.id}&from=${now}`)).toHaveLength(3)

    const first = await admin.call('GET', `/audit/entries?owner=${one.id}&limit=2`)
    expect(first.body.data).toHaveLength(2)
    const rest = `/audit/entries?owner=${one.id}&limit=2&after=${first.body.next}`
    expect((await admin.call('GET', rest)).body).toMatchObject({
      data: [{ operation: 'users.signOut' }],
      next: null,
    })
    const foreign = `/audit/entries?owner=${two.id}&after=${first.body.next}`
    expect(await admin.call('GET', foreign)).toMatchObject({
      status: 400,
      body: { type: expect.stringContaining('#invalid-cursor') },
    })
  })

  it('shows an entry with its actor, its way of access, its address and its personal data (threat N7)', async () => {
    const person = await operators.person()
    await admin.call('POST', `/users/${person.id}/disable`, { body: {} })
    const found = await admin.call('GET', `/audit/entries?owner=${person.id}`)
    const [done, started] = found.body.data
    expect(done).toMatchObject({
      actor: { kind: 'operator', id: admin.id, email: admin.email, address: expect.any(String) },
      door: 'api',
      operation: 'users.disable',
      outcome: 'done',
      subject: { kind: 'user', id: person.id },
      owner: person.id,
      personal: { email: person.email },
      intent_id: started.id,
    })
    await service.auditChain.process()
    const shown = await admin.call('GET', `/audit/entries/${done.id}`)
    expect(shown.body).toMatchObject({ id: done.id, number: expect.any(Number) })
    expect(await admin.call('GET', '/audit/entries/none')).toMatchObject({ status: 404 })
  })

  it.each([
    ['half a pair', 'actor_kind=operator', 'actor_id'],
    ['the other half', 'subject_id=1', 'subject_kind'],
    ['an unknown outcome', 'outcome=maybe', 'outcome'],
    ['a date without a time', 'from=2026-01-01', 'from'],
    ['an unknown filter', 'email=a@example.com', 'email'],
  ])('names the invalid field in the query: %s', async (_, query, field) => {
    expect(await admin.call('GET', `/audit/entries?${query}`)).toMatchObject({
      status: 422,
      body: { errors: { [field]: [expect.any(String)] } },
    })
  })

  it.each(['/entries', '/entries/a', '/head', '/verification', '/export'])(
    'shows %s only to admins, and to clients with the right scope',
    async (path) => {
      const support = await operators.operator('support')
      expect((await support.call('GET', `/audit${path}`)).status).toBe(403)
      expect((await operators.with({})('GET', `/audit${path}`)).status).toBe(401)
    },
  )

  it('exports entries of the chain as lines that anyone can verify', async () => {
    await admin.call('POST', `/users/${(await operators.person()).id}/sign-out`)
    await service.auditChain.process()
    const { response, lines } = await exportLines()
    expect(response.headers.get('content-type')).toBe('application/jsonl')
    expect(lines.length).toBeGreaterThan(1)
    let previous: string | null = null
    for (const [at, { hash, ...content }] of lines.entries()) {
      expect(content).toMatchObject({ number: at + 1, previous_hash: previous })
      const json = formatCanonicalJson(content)
      expect(createHash('sha256').update(json).digest('base64url')).toBe(hash)
      previous = hash
    }
    const head = await admin.call('GET', '/audit/head')
    expect(head.body.head).toMatchObject({ number: lines.length, hash: previous })
  })

  it('exports filtered entries, and includes personal data only on request', async () => {
    const person = await operators.person()
    await admin.call('POST', `/users/${person.id}/disable`, { body: {} })
    await service.auditChain.process()
    const plain = await exportLines(`?owner=${person.id}`)
    expect(plain.lines.map(({ outcome }) => outcome)).toEqual(['started', 'done'])
    expect(plain.text).not.toContain('@example.com')
    expect(plain.lines[1].previous_hash).toEqual(expect.any(String))
    const personal = await exportLines(`?owner=${person.id}&personal=true`)
    expect(personal.lines[1].personal).toMatchObject({
      actor: { email: admin.email },
      subject: { email: person.email },
    })
    expect((await exportLines(`?owner=${admin.id}`)).text).toBe('')
  })

  it('exports more entries than one page, each once and in order', async () => {
    const caller = {
      actor: { kind: 'command', id: 'system' },
      door: 'command',
      address: null,
      requestId: null,
    } as const
    for (let at = 0; at < 1100; at += 1) {
      const described = { subject: { kind: 'import', id: 'many' } }
      await service.admin.audit.add({
        caller,
        operation: 'users.import',
        outcome: 'done',
        described,
      })
    }
    await service.auditChain.process()
    const { lines } = await exportLines()
    expect(lines.map(({ number }) => number)).toEqual(lines.map((_, at) => at + 1))
    expect(lines.length).toBeGreaterThan(1100)
    const filtered = await exportLines('?operation=users.import')
    expect(filtered.lines).toHaveLength(1100)
    expect(new Set(filtered.lines.map(({ id }) => id)).size).toBe(1100)
  })

  it('verifies the chain in steps, and compares it with an entry noted earlier', async () => {
    await service.auditChain.process()
    const { head } = (await admin.call('GET', '/audit/head')).body
    const noted = `known_number=${head.number}&known_hash=${head.hash}`
    const whole = await admin.call('GET', `/audit/verification?${noted}`)
    expect(whole.body).toMatchObject({ intact: true, complete: true, break: null, waiting: 0 })
    expect(whole.body.last).toEqual({ number: head.number, hash: head.hash })
    const part = await admin.call('GET', '/audit/verification?limit=2')
    expect(part.body).toMatchObject({ intact: true, complete: false, checked: 2 })
    const ahead = `known_number=${head.number + 1}&known_hash=${head.hash}`
    expect((await admin.call('GET', `/audit/verification?${ahead}`)).body).toMatchObject({
      intact: false,
      break: { kind: 'missing', number: head.number + 1, entry_id: null },
    })
    const half = await admin.call('GET', '/audit/verification?from_number=3')
    expect(half).toMatchObject({
      status: 422,
      body: { errors: { from_hash: [expect.any(String)] } },
    })
  })
})

describe('the contents of the audit log (threat N9)', () => {
  it('include no trace of a deleted person, however the person was deleted, and the chain stays valid', async () => {
    for (const remove of [
      (id: string) => admin.call('POST', `/users/${id}/delete`, { body: {} }),
      (id: string) => service.users.delete(id),
    ]) {
      const target = await operators.operator('support')
      const person = await operators.person()
      await target.call('POST', `/users/${person.id}/sign-out`)
      await owner.call('PUT', `/users/${target.id}/role`, { body: { role: null } })
      await service.auditChain.process()
      expect(await everything()).toContain(target.email)
      await remove(target.id)
      await service.auditChain.process()
      expect(await everything()).not.toContain(target.email)
      const of = `actor_kind=operator&actor_id=${target.id}`
      const { body } = await admin.call('GET', `/audit/entries?${of}`)
      expect(body.data).toMatchObject([{ actor: { id: target.id, email: null, address: null } }])
    }
    const { body } = await admin.call('GET', '/audit/verification')
    expect(body).toMatchObject({ intact: true, complete: true })
  })

  it('include no secret in any column after every operation that handles secrets', async () => {
    const secrets: string[] = []
    const covered = new Set<string>()
    const run = async (operation: string, path: string, body: Record<string, unknown> = {}) => {
      const [method, route] = OPERATIONS.find(({ name }) => name === operation)?.route ?? ['', '']
      expect(path.split('/').length, operation).toBe(route.split('/').length)
      // With a key, so that the response is stored for repeats.
      const headers = { 'idempotency-key': `secrets-${covered.size}` }
      const response = await owner.call(method, path, { body, headers })
      expect(response.status, JSON.stringify(response.body)).toBeLessThan(300)
      covered.add(operation)
      if (typeof body.password === 'string') secrets.push(body.password)
      if (typeof response.body.secret === 'string') secrets.push(response.body.secret)
      return response.body
    }
    const person = await run('users.create', '/users', {
      email: newAddress('kept'),
      password: 'first passphrase of theirs',
    })
    await run('users.setPassword', `/users/${person.id}/password`, {
      password: 'second passphrase of theirs',
    })
    const { id } = await run('clients.create', '/clients', {
      name: 'Printer',
      redirect_uris: ['https://printer.example.com/callback'],
    })
    await run('clients.rotateSecret', `/clients/${id}/rotate-secret`)
    await run('clients.replaceLeakedSecret', `/clients/${id}/replace-leaked-secret`)
    await run('clients.createForManagement', '/management-clients', {
      name: 'Auditor',
      scopes: ['admin.audit:read'],
    })
    expect(secrets).toHaveLength(6)
    const all = await everything()
    for (const secret of secrets) expect(all).not.toContain(secret)
    // A new operation with a secret must be called here, too.
    const handling = OPERATIONS.filter(({ input, output, line }) => {
      const schemas = [z.toJSONSchema(input, { io: 'input' }), z.toJSONSchema(line ?? output)]
      return /"(?:client_)?(?:secret|password)":/.test(JSON.stringify(schemas))
    })
    expect(handling.map(({ name }) => name).sort()).toEqual([...covered].sort())
  })

  it('can be read by a client that has only the scope of the audit log', async () => {
    const scopes = ['admin.audit:read']
    const { body } = await owner.call('POST', '/management-clients', {
      body: { name: 'Archive', scopes },
    })
    const response = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${body.id}:${body.secret}`)}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', scope: scopes.join(' ') }),
    })
    const { access_token: token } = (await response.json()) as { access_token: string }
    const call = operators.with({ authorization: `Bearer ${token}` })
    expect((await call('GET', '/audit/entries')).status).toBe(200)
    expect((await call('GET', '/users')).status).toBe(403)
  })
})
