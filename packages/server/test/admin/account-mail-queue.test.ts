import { MailRejected } from '@tollgate/billing'
import { movableClock } from '@tollgate/oauth/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ServiceMail } from '../../src/config/shapes.ts'
import { createAccountHelpers, newAddress, PASSWORD } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { operatorWithForms } from './page-forms.ts'

const REFUSED = '550 5.1.1 There is no such address'

/** Begins now, because commands use the clock of the database. */
const clock = movableClock(new Date())
let service: TestService
let sent: ServiceMail[] = []
/** Whether the function that sends mail refuses it, and repeats the text in its error. */
let isRefused = true
/** The text of the last mail that was refused. */
let refusedText = ''
beforeAll(async () => {
  service = await startTestService({
    options: { clock },
    settings: {
      mail: {
        async send(mail) {
          if (isRefused) {
            refusedText = mail.text
            throw new MailRejected(`${REFUSED}: ${mail.text}`)
          }
          sent.push(mail)
        },
      },
    },
  })
})
beforeEach(() => {
  sent = []
  isRefused = true
})
afterAll(() => service?.stop())

const tokenIn = (text: string) => /token=([\w.-]+)/.exec(text)?.[1] ?? expect.fail('no token')

/** Adds mail that is given up at its first attempt. Returns its id, its person and its token. */
async function giveUp(kind: 'password_reset' | 'password_changed') {
  const email = newAddress('lost')
  const user = await service.users.create({ email, password: PASSWORD })
  if (kind === 'password_reset') await service.recovery.requestPasswordReset(email, 'en')
  else await service.recovery.notify(user, kind)
  await service.recovery.process()
  const { id } = await service.database.kysely
    .selectFrom('account_mails')
    .select('id')
    .where('address', '=', email)
    .where('state', '=', 'dead')
    .executeTakeFirstOrThrow()
  return { id, user, token: kind === 'password_reset' ? tokenIn(refusedText) : null }
}

const auditedRetries = (id: number) =>
  service.database.kysely
    .selectFrom('audit_entries')
    .select(['outcome', 'subject_kind'])
    .where('operation', '=', 'mail.retryAboutAccount')
    .where('subject_id', '=', String(id))
    .execute()

describe('mail about an account that was given up', () => {
  it('is sent again by an operator, once, with the same Message-ID and a line in the audit log', async () => {
    const { id, user } = await giveUp('password_reset')
    const { message_id } = await service.database.kysely
      .selectFrom('account_mails')
      .select('message_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const support = await operatorWithForms(service, 'support')
    const page = await support.open('/admin/mail/accounts')
    expect(page.html).toContain(REFUSED)
    expect(page.html).toContain(`href="/admin/people/${user.id}"`)
    isRefused = false
    const path = `/admin/mail/accounts/${id}/retry`
    const retried = await support.send(page, path)
    expect(retried.location).toBe('/admin/mail/accounts?done=retried')
    await service.recovery.process()
    expect(sent).toMatchObject([{ id: message_id, to: user.email, kind: 'password_reset' }])
    const again = await support.call('POST', `/account-mail/${id}/retry`)
    expect([again.status, again.body.detail]).toEqual([409, 'The mail was sent.'])
    await service.recovery.process()
    expect(sent).toHaveLength(1)
    expect((await auditedRetries(id)).filter(({ outcome }) => outcome === 'done')).toEqual([
      { outcome: 'done', subject_kind: 'account-mail' },
    ])
    const listed = await support.call('GET', '/account-mail?state=done')
    const [mail] = listed.body.data
    expect(mail).toMatchObject({ id, user_id: user.id, address: user.email, retry: 'sent' })
  })

  it('is never shown with its link, even if the error repeats the text of the mail (threat Q11)', async () => {
    const { token } = await giveUp('password_reset')
    expect(await service.recovery.find(['reset'], token ?? '')).not.toBeNull()
    const owner = await operatorWithForms(service, 'owner')
    const shown = [
      (await owner.open('/admin/mail/accounts')).html,
      JSON.stringify((await owner.call('GET', '/account-mail')).body),
      (await createAccountHelpers(service).tollgate('mail', 'list', '--about', 'accounts')).stdout,
    ]
    for (const text of shown) {
      expect(text).toContain('There is no such address')
      expect(text).not.toContain(token)
      // The part that is a secret: the rest identifies the link.
      expect(text).not.toContain(token?.split('.')[1])
    }
  })

  it('is not sent again once its link has expired, and says so (threat N8)', async () => {
    const { id, token } = await giveUp('password_reset')
    const support = await operatorWithForms(service, 'support')
    const before = await support.open('/admin/mail/accounts')
    clock.advance({ minutes: 31 })
    const path = `/admin/mail/accounts/${id}/retry`
    isRefused = false
    // The form of a page that was opened while the link still worked.
    const refused = await support.send(before, path)
    expect(refused.html).toContain('The link in the mail has expired.')
    const page = await support.open('/admin/mail/accounts')
    expect(page.html).toContain('Its link has expired.')
    expect(page.html).not.toContain(`action="${path}"`)
    const called = await support.call('POST', `/account-mail/${id}/retry`)
    expect(called.status).toBe(409)
    await service.recovery.process()
    expect(sent).toEqual([])
    expect(await service.recovery.find(['reset'], token ?? '')).toBeNull()
  })

  it('is not sent again once its link was used', async () => {
    const { id, token } = await giveUp('password_reset')
    isRefused = false
    await service.recovery.resetPassword(token ?? '', 'another horse', '203.0.113.1')
    const support = await operatorWithForms(service, 'support')
    const { body } = await support.call('GET', '/account-mail')
    const [mail] = body.data.filter((each: { id: number }) => each.id === id)
    expect(mail.retry).toBe('link-used')
    expect((await support.call('POST', `/account-mail/${id}/retry`)).status).toBe(409)
    const { tollgate } = createAccountHelpers(service)
    const command = await tollgate('mail', 'retry', String(id), '--about', 'accounts')
    expect(command.code).not.toBe(0)
    expect(command.stderr).toContain('The link in the mail was used.')
  })

  it('is sent again days later if it contains no link', async () => {
    const { id, user } = await giveUp('password_changed')
    clock.advance({ days: 2 })
    isRefused = false
    const { tollgate } = createAccountHelpers(service)
    const retried = await tollgate('mail', 'retry', String(id), '--about', 'accounts')
    expect([retried.code, retried.stderr]).toEqual([0, ''])
    expect(retried.stdout).toContain(`password_changed to ${user.email}`)
    await service.recovery.process()
    expect(sent).toMatchObject([{ to: user.email, kind: 'password_changed' }])
  })

  it('is listed by pages for viewers, who cannot send it again', async () => {
    const { id } = await giveUp('password_changed')
    await giveUp('password_changed')
    const viewer = await operatorWithForms(service, 'viewer')
    expect((await viewer.open('/admin/mail/accounts')).html).not.toContain('/retry')
    expect((await viewer.call('POST', `/account-mail/${id}/retry`)).status).toBe(403)
    const ids: number[] = []
    let next: string | null = ''
    while (next !== null) {
      const after: string = next === '' ? '' : `&after=${encodeURIComponent(next)}`
      const { body } = await viewer.call('GET', `/account-mail?limit=1${after}`)
      ids.push(...body.data.map((each: { id: number }) => each.id))
      next = body.next
    }
    expect(ids).toContain(id)
    expect(new Set(ids).size).toBe(ids.length)
    const { body } = await viewer.call('GET', '/account-mail?limit=100')
    expect(body.data.map((each: { id: number }) => each.id)).toEqual(ids)
    const support = await operatorWithForms(service, 'support')
    expect((await support.call('POST', '/account-mail/999999/retry')).status).toBe(404)
  })
})
