import { startSandbox } from '@tollgate/sandbox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  createTestDatabase,
  type TestDatabase,
} from '../../../../test-support/create-test-database.ts'
import { ADA, APP, createOwnTables, run } from './run.ts'

type Instances = typeof import('./app.ts')

let test: TestDatabase
let sandbox: Awaited<ReturnType<typeof startSandbox<{ stripe: true }>>>
let environment: Record<string, string>
let application: Instances
beforeAll(async () => {
  test = await createTestDatabase()
  await createOwnTables(test)
  sandbox = await startSandbox({ stripe: true })
  const monthly = { id: 'monthly', unitAmount: 1000, interval: 'month', product: 'Gold' } as const
  sandbox.stripe.seedPrice({ ...monthly, intervalCount: 1 })
  environment = {
    APP_DATABASE_URL: test.url,
    APP_STRIPE_SECRET: sandbox.stripe.apiKey,
    APP_STRIPE_PORT: new URL(sandbox.stripe.url).port,
  }
  // The application itself reads these when it starts.
  Object.assign(process.env, environment)
  application = await import('./app.ts')
  await application.oauth.ready()
  await application.billing.ready()
  const ada = await application.billing.user(ADA)
  await ada.newSubscription('main', 'monthly').create('pm_card_visa')
})
afterAll(async () => {
  await application.oauth.close()
  await application.billing.close()
  await application.database.close()
  await sandbox.close()
  await test.drop()
})

const tollgate = (...args: string[]) => run(['--config', APP, ...args], environment)

it("tollgate --config lists, cancels and resumes an application's subscriptions", async () => {
  const ada = await application.billing.user(ADA)
  const { id } = await ada.subscription('main')
  const listed = await tollgate('billing', 'subscriptions', '--user', ADA, '--json')
  expect(listed.json()).toEqual([expect.objectContaining({ id, user_id: ADA, name: 'main' })])

  const cancelled = await tollgate('billing', 'cancel', ADA, '--subscription', 'main', '--json')
  expect(cancelled.json().states).toContain('on_grace_period')
  expect(cancelled.stderr).toContain('"operation":"billing.cancel"')
  const emitted = [...cancelled.stderr.matchAll(/^billing event: (\w+) billing\.cancel/gm)]
  expect(emitted.map(([, outcome]) => outcome)).toEqual(['started', 'done'])
  expect((await ada.subscription('main')).onGracePeriod()).toBe(true)
  const resumed = await tollgate('billing', 'resume', ADA, '--json')
  expect(resumed.json().states).toContain('recurring')
  const pausing = await tollgate('billing', 'pause', ADA, '--json')
  expect(pausing.json().states).toContain('paused')
  const unpaused = await tollgate('billing', 'unpause', ADA, '--subscription', String(id), '--json')
  expect(unpaused.json().states).toContain('recurring')
  const nobody = await tollgate('billing', 'cancel', 'nobody')
  expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringContaining('nobody')])
})

it('tollgate --config refunds an invoice of an application once for one idempotency key', async () => {
  const invoices = await tollgate('billing', 'invoices', ADA, '--json')
  const refund = ['billing', 'refund', ADA, invoices.json()[0].id, '--amount', '1.00', '--json']
  const first = await tollgate(...refund, '--idempotency-key', 'once')
  expect(first.json()).toMatchObject({ amount: { amount: 100 }, status: 'succeeded' })
  const again = await tollgate(...refund, '--idempotency-key', 'once')
  expect(again.json().refund).toBe(first.json().refund)
})

it("tollgate --config compares an application's subscriptions with the provider and updates them", async () => {
  const ada = await application.billing.user(ADA)
  await test.database.kysely
    .updateTable('subscriptions')
    .set({ provider_plan: 'something else' })
    .execute()
  const dry = await tollgate('billing', 'sync', '--dry-run', '--json')
  expect(dry.json()).toMatchObject({ dry_run: true, drift: [{ what: 'outdated row' }] })
  expect((await tollgate('billing', 'sync')).stdout).toContain('1 difference resolved')
  expect((await ada.subscription('main')).hasPrice('monthly')).toBe(true)
})

/** A team of the application that has paid an invoice, and the option that names it. */
async function payingTeam() {
  const team = { contact: 'pay@acme.example', title: 'Acme' }
  await test.database.kysely.insertInto('teams').values(team).execute()
  const { id } = await test.database.kysely
    .selectFrom('teams')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow()
  const billable = await application.billing.owner('team', id)
  await billable.newSubscription('main', 'monthly').create('pm_card_visa')
  const [invoice] = await billable.invoices()
  return { id, billable, invoice: invoice?.id ?? '', owner: ['--owner', `team:${id}`] }
}

it("tollgate --config --owner lists and refunds an invoice of one of the application's teams", async () => {
  const { id, invoice, owner } = await payingTeam()
  const listed = await tollgate('billing', 'invoices', ...owner, '--json')
  expect(listed.json()).toEqual([
    expect.objectContaining({ id: invoice, owner_type: 'team', owner_id: String(id) }),
  ])
  const part = ['--amount', '2.00', '--json']
  const refunded = await tollgate('billing', 'refund', ...owner, invoice, ...part)
  expect(refunded.json()).toMatchObject({ amount: { amount: 200 }, status: 'succeeded' })
  expect(refunded.stderr).toContain(`"owner":"team:${id}"`)
})

it("tollgate --config --owner cancels and syncs the subscription of one of the application's teams", async () => {
  const { id, billable, owner } = await payingTeam()
  const cancelled = await tollgate('billing', 'cancel', ...owner, '--json')
  expect(cancelled.json()).toMatchObject({ owner_type: 'team', owner_id: String(id) })
  expect((await billable.subscription('main')).cancelled()).toBe(true)
  const synced = await tollgate('billing', 'sync', ...owner)
  expect([synced.code, synced.stdout]).toEqual([
    0,
    expect.stringContaining(`Updated team:${id}: 1 subscription`),
  ])
})

it("tollgate --config --owner issues a credit note to one of the application's teams", async () => {
  const { id, invoice, owner } = await payingTeam()
  const args = [...owner, invoice, 'balance', '--amount', '1.00']
  const issued = await tollgate('billing', 'credit-notes', 'issue', ...args)
  expect([issued.code, issued.stdout]).toEqual([0, expect.stringContaining(`to team:${id}.`)])
})

it.each([
  ['team:none', 'There is no team none'],
  ['club:7', "Unknown owner type 'club'"],
  ['club:', '--owner expects a type and an id'],
])('tollgate --config explains that the application has no owner %s', async (owner, message) => {
  const { code, stderr } = await tollgate('billing', 'cancel', '--owner', owner)
  expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
})

it("tollgate --config lists and revokes an application's tokens, and calls its listeners", async () => {
  const { token, accessToken } = await application.oauth.tokens.createPersonal({
    userId: ADA,
    name: 'Backup',
    scopes: ['read'],
  })
  const listed = await tollgate('token', 'list', '--user', ADA, '--json')
  expect(listed.json()).toEqual([
    expect.objectContaining({ id: token.id, user_id: ADA, scopes: ['read'] }),
  ])
  expect(listed.stdout).not.toContain(accessToken)
  const revoked = await tollgate('token', 'revoke', '--id', token.id)
  expect(revoked.code).toBe(0)
  expect(revoked.stderr).toContain(`listener: ${token.id} was revoked`)
  expect((await application.oauth.tokens.find(token.id))?.revokedAt).toBeInstanceOf(Date)
  expect((await tollgate('token', 'revoke', '--user', ADA)).stdout).toContain('Revoked all tokens')
  expect((await tollgate('token', 'purge', '--json')).json()).toEqual({ tokens: 0 })
})
