import { mailKinds, mailLanguages } from '@tollgate/billing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccountHelpers } from '../accounts.ts'
import { startTestService, type TestService } from '../support.ts'
import { operatorWithForms } from './page-forms.ts'

let service: TestService
beforeAll(async () => {
  const mail = { words: { de: { closing: 'Bis bald, <b>Ihr</b> Laden' } } }
  service = await startTestService({ settings: { mail }, options: { mailbox: true } })
})
afterAll(() => service?.stop())

const mailbox = () => {
  if (!service.sandbox?.mail) throw new Error('The demo has no mailbox')
  return service.sandbox.mail
}

describe("the operators' page of mail", () => {
  it('lists mail that was given up, and sends it again once, with a line in the audit log', async () => {
    mailbox().fail('unknown-recipient')
    const { email } = await createAccountHelpers(service).customer('stripe', ['pro'])
    await service.advance({})
    await expect.poll(async () => (await service.billing.notices?.deadLetters())?.length).toBe(1)
    mailbox().recover()
    const support = await operatorWithForms(service, 'support')
    const page = await support.open('/admin/mail')
    expect(page.html).toContain('550 5.1.1 There is no such address')
    expect(page.html).toContain('the mailbox of the sandbox')
    const [, id] = /\/admin\/mail\/(\d+)\/retry/.exec(page.html) ?? []
    const path = `/admin/mail/${id}/retry`
    expect((await support.send(page, path, {})).location).toBe('/admin/mail?done=retried')
    await expect
      .poll(() =>
        mailbox()
          .messages()
          .flatMap(({ to }) => to),
      )
      .toEqual([email])
    await expect.poll(async () => (await service.billing.notices?.page('done'))?.length).toBe(1)
    expect((await support.send(page, path, {})).status).toBeLessThan(500)
    const again = await support.call('POST', `/mail/${id}/retry`)
    expect(again.status).toBe(409)
    expect(mailbox().messages()).toHaveLength(1)
    const entries = await service.database.kysely
      .selectFrom('audit_entries')
      .select(['operation', 'outcome', 'subject_kind', 'subject_id'])
      .where('outcome', '=', 'done')
      .execute()
    expect(entries).toEqual([
      { operation: 'mail.retry', outcome: 'done', subject_kind: 'mail', subject_id: id },
    ])
    const viewer = await operatorWithForms(service, 'viewer')
    expect((await viewer.open('/admin/mail?state=done')).html).not.toContain('/retry')
    const listed = await viewer.call('GET', '/mail?state=done')
    expect(listed.body).toMatchObject({ data: [{ kind: 'receipt', state: 'done' }] })
    expect((await support.call('POST', '/mail/999999/retry')).status).toBe(404)
  })
})

describe('the preview of mail', () => {
  it('shows every kind in each language as text, and as HTML in a sandboxed frame', async () => {
    const viewer = await operatorWithForms(service, 'viewer')
    const { html } = await viewer.open('/admin/mail/preview?kind=refunded&language=fr')
    expect(html).toContain('Ada Lovelace')
    expect(html).toContain('sandbox=""')
    for (const kind of mailKinds) expect(html).toContain(`?kind=${kind}&amp;language=fr`)
    for (const language of mailLanguages) {
      const query = `kind=action_required&language=${language}`
      const frame = await viewer.open(`/admin/mail/preview/html?${query}`)
      expect(frame.html).toContain(`<html lang="${language}"`)
    }
  })

  it('shows the texts of the setting mail.words, escaped in HTML', async () => {
    const viewer = await operatorWithForms(service, 'viewer')
    const frame = await viewer.open('/admin/mail/preview/html?kind=receipt&language=de')
    expect(frame.html).toContain('Bis bald, &lt;b&gt;Ihr&lt;/b&gt; Laden')
    const other = await viewer.open('/admin/mail/preview/html?kind=constructor&language=../x')
    expect(other.html).toContain('<html lang="en"')
  })
})
