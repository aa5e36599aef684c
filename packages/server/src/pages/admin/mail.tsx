import type { Context, Hono } from 'hono'
import type { Child, FC } from 'hono/jsx'
import type { AccountMailJson } from '../../admin/operations/mail.ts'
import type { AdminProblem } from '../../admin/problems.ts'
import type { AppEnv } from '../../http/variables.ts'
import { EXAMPLE_MAILS, isMailKind, MAIL_LANGUAGES } from '../../mail/catalogue.ts'
import type { PageText } from '../../messages/messages.ts'
import { ACCOUNT_MAIL_STATES } from '../../recovery/account-mails.ts'
import { readCsrfForm } from '../parts/forms.ts'
import { Heading } from '../parts/layout.tsx'
import { Empty, Fact, Moment, Table } from '../parts/table.tsx'
import {
  AdminForm,
  getOperator,
  mayCall,
  Pager,
  performOrShowProblem,
  renderAdmin,
  requireRole,
  runOperation,
} from './parts.tsx'

const BASE = '/admin/mail'
const SMTP_URL = 'TOLLGATE_SMTP_URL'
const ACCOUNTS = `${BASE}/accounts`
const PREVIEW = `${BASE}/preview`
const STATES = ['dead', 'sending', 'pending', 'done'] as const

interface MailJson {
  readonly id: number
  readonly kind: string
  readonly subject: string
  readonly state: (typeof STATES)[number]
  readonly attempts: number
  readonly due_at: string
  readonly last_error: string | null
}

type AccountMail = Pick<
  AccountMailJson,
  'id' | 'kind' | 'user_id' | 'address' | 'due_at' | 'last_error' | 'retry'
>

/** Adds the pages of mail: the queues, and a preview of every kind in every language. */
export function addMailPages(app: Hono<AppEnv>): void {
  app.get(BASE, requireRole('viewer'), (c) => renderQueue(c, null))

  app.post(`${BASE}/:id/retry`, requireRole('support'), async (c) => {
    const form = await readCsrfForm(c)
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'mail.retry', { mail: c.req.param('id') }, form)
        return c.redirect(`${BASE}?done=retried`, 303)
      },
      (problem) => renderQueue(c, problem),
    )
  })

  app.get(ACCOUNTS, requireRole('viewer'), (c) => renderAccountQueue(c, null))

  app.post(`${ACCOUNTS}/:id/retry`, requireRole('support'), async (c) => {
    const form = await readCsrfForm(c)
    return performOrShowProblem(
      c,
      async () => {
        await runOperation(c, 'mail.retryAboutAccount', { mail: c.req.param('id') }, form)
        return c.redirect(`${ACCOUNTS}?done=retried`, 303)
      },
      (problem) => renderAccountQueue(c, problem),
    )
  })

  app.get(PREVIEW, requireRole('viewer'), renderPreview)

  app.get(`${PREVIEW}/html`, requireRole('viewer'), (c) => {
    const { html } = renderExample(c)
    c.header('content-security-policy', HTML_POLICY)
    c.header('cache-control', 'no-store')
    c.header('x-frame-options', 'SAMEORIGIN')
    return c.html(html)
  })
}

/** Mail has inline styles. Scripts, forms and requests to other hosts are forbidden. */
const HTML_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'self'; sandbox"

async function renderQueue(c: Context<AppEnv>, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const state = STATES.find((each) => each === c.req.query('state')) ?? 'dead'
  const after = c.req.query('after')
  const { data, next } = await runOperation<{ data: MailJson[]; next: string | null }>(
    c,
    'mail.list',
    { state, ...(after !== undefined && { after }) },
  )
  const mayRetry =
    (state === 'dead' || state === 'sending') && mayCall(getOperator(c), 'mail.retry')
  return renderList(
    c,
    { problem, state, base: BASE, states: STATES, next },
    data.length === 0 ? (
      <Empty title={t('adminMail.empty')}>{t('adminMail.emptyText')}</Empty>
    ) : (
      <Table
        caption={t('admin.mail')}
        columns={[
          t('adminMail.kind'),
          t('adminMail.subject'),
          t('adminMail.last'),
          t('adminMail.error'),
          ...(mayRetry ? [t('table.actions')] : []),
        ]}
        rows={data.map((mail) => [
          describeKind(mail.kind, t),
          <code>{mail.subject}</code>,
          <Moment at={new Date(mail.due_at)} />,
          mail.last_error === null ? t('table.none') : <code lang="en">{mail.last_error}</code>,
          ...(mayRetry
            ? [
                <AdminForm action={`${BASE}/${mail.id}/retry`}>
                  <button
                    type="submit"
                    class="small"
                    aria-label={t('adminMail.retryName', { subject: mail.subject })}
                  >
                    {t('adminMail.retry')}
                  </button>
                </AdminForm>,
              ]
            : []),
        ])}
      />
    ),
  )
}

/** The mail about accounts. Its text is never shown, because its link opens an account. */
async function renderAccountQueue(c: Context<AppEnv>, problem: AdminProblem | null) {
  const { t } = c.get('page')
  const state = ACCOUNT_MAIL_STATES.find((each) => each === c.req.query('state')) ?? 'dead'
  const after = c.req.query('after')
  const { data, next } = await runOperation<{ data: AccountMail[]; next: string | null }>(
    c,
    'mail.listAboutAccounts',
    { state, ...(after !== undefined && { after }) },
  )
  const showsRetry = state === 'dead' && mayCall(getOperator(c), 'mail.retryAboutAccount')
  return renderList(
    c,
    { problem, state, base: ACCOUNTS, states: ['dead', 'pending', 'done'], next },
    data.length === 0 ? (
      <Empty title={t('adminMail.empty')}>{t('adminMail.emptyText')}</Empty>
    ) : (
      <Table
        caption={t('adminMail.about.accounts')}
        columns={[
          t('adminMail.kind'),
          t('adminMail.to'),
          t('adminMail.last'),
          t('adminMail.error'),
          ...(showsRetry ? [t('table.actions')] : []),
        ]}
        rows={data.map((mail) => [
          describeKind(mail.kind, t),
          mail.user_id === null ? (
            <bdi>{mail.address}</bdi>
          ) : (
            <a href={`/admin/people/${mail.user_id}`}>
              <bdi>{mail.address}</bdi>
            </a>
          ),
          <Moment at={new Date(mail.due_at)} />,
          mail.last_error === null ? t('table.none') : <code lang="en">{mail.last_error}</code>,
          ...(showsRetry ? [<AccountRetry mail={mail} t={t} />] : []),
        ])}
      />
    ),
  )
}

/** The button that sends mail again, or why it is not sent. */
const AccountRetry: FC<{ mail: AccountMail; t: PageText }> = ({ mail, t }) =>
  mail.retry === 'possible' ? (
    <AdminForm action={`${ACCOUNTS}/${mail.id}/retry`}>
      <button
        type="submit"
        class="small"
        aria-label={t('adminMail.retryName', { subject: mail.address })}
      >
        {t('adminMail.retry')}
      </button>
    </AdminForm>
  ) : (
    <span>{t(`adminMail.noRetry.${mail.retry}`)}</span>
  )

interface ListView {
  readonly problem: AdminProblem | null
  /** Path of this queue. */
  readonly base: string
  readonly state: (typeof STATES)[number]
  readonly states: readonly (typeof STATES)[number][]
  readonly next: string | null
}

/** The frame of both queues: the choice of the queue and of the state, and a page of mail. */
function renderList(c: Context<AppEnv>, view: ListView, list: Child) {
  const { t } = c.get('page')
  const { problem, base, state } = view
  return renderAdmin(
    c,
    {
      title: t('admin.mail'),
      problem,
      ...(c.req.query('done') === 'retried' && { notice: t('adminMail.wasRetried') }),
    },
    <>
      <Heading title={t('admin.mail')} lead={t('adminMail.lead')}>
        <a class="button" href={PREVIEW}>
          {t('adminMail.preview')}
        </a>
      </Heading>
      <Route c={c} />
      <Choices
        label={t('adminMail.about')}
        choices={[
          { label: t('adminMail.about.customers'), href: BASE, isChosen: base === BASE },
          { label: t('adminMail.about.accounts'), href: ACCOUNTS, isChosen: base === ACCOUNTS },
        ]}
      />
      <Choices
        label={t('adminMail.state')}
        choices={view.states.map((each) => ({
          label: t(`adminMail.state.${each}`),
          href: `${base}?state=${each}`,
          isChosen: each === state,
        }))}
      />
      <section class="card stack" aria-label={t('admin.mail')}>
        <p>{t(`adminMail.explain.${state}`)}</p>
        {list}
        <Pager c={c} next={view.next} />
      </section>
    </>,
  )
}

/** How the service sends mail, or why it sends none. */
const Route: FC<{ c: Context<AppEnv> }> = ({ c }) => {
  const { t, service } = c.get('page')
  const { smtp, settings } = service.config
  const server = smtp ? `${smtp.host}:${smtp.port}` : null
  if (server !== null) {
    return <p>{t.parts('adminMail.server', { server: <bdi>{server}</bdi> })}</p>
  }
  if (settings.mail?.send) return <p>{t('adminMail.function')}</p>
  const mailbox = service.sandbox?.mail && service.sandbox.controlRoom
  if (mailbox) {
    const link = <a href={`${mailbox.url}/mail`}>{t('adminMail.mailbox')}</a>
    return <p>{t.parts('adminMail.sandbox', { link })}</p>
  }
  return (
    <p class="notice warning">{t.parts('adminMail.none', { name: <code>{SMTP_URL}</code> })}</p>
  )
}

/** Names a kind of mail in the language of the page. */
function describeKind(kind: string, t: PageText): string {
  return isMailKind(kind) ? t(`adminMail.kind.${kind}`) : kind
}

function readChoice(c: Context<AppEnv>) {
  const { t } = c.get('page')
  const { kind, language } = c.req.query()
  const [first = 'receipt'] = EXAMPLE_MAILS.keys()
  const own = new Intl.Locale(t.locale).language
  return {
    kind: kind !== undefined && isMailKind(kind) ? kind : first,
    language: MAIL_LANGUAGES.find((each) => each === language) ?? own,
  }
}

function renderExample(c: Context<AppEnv>) {
  const { service } = c.get('page')
  const { kind, language } = readChoice(c)
  const render = EXAMPLE_MAILS.get(kind)
  if (!render) throw new Error(`There is no mail ${kind}`)
  const { config, billing, url } = service
  return render(language, { settings: config.settings, billing, url })
}

function renderPreview(c: Context<AppEnv>) {
  const { t } = c.get('page')
  const choice = readChoice(c)
  const { subject, text } = renderExample(c)
  const names = new Intl.DisplayNames([t.locale], { type: 'language' })
  const query = (more: Partial<typeof choice>) => `?${new URLSearchParams({ ...choice, ...more })}`
  return renderAdmin(
    c,
    { title: t('adminMail.preview'), policy: { 'frame-src': ["'self'"] } },
    <>
      <Heading title={t('adminMail.preview')} lead={t('adminMail.previewLead')} />
      <Choices
        label={t('adminMail.kind')}
        choices={[...EXAMPLE_MAILS.keys()].map((kind) => ({
          label: describeKind(kind, t),
          href: PREVIEW + query({ kind }),
          isChosen: kind === choice.kind,
        }))}
      />
      <Choices
        label={t('adminMail.language')}
        choices={MAIL_LANGUAGES.map((language) => ({
          label: names.of(language) ?? language,
          href: PREVIEW + query({ language }),
          isChosen: language === choice.language,
        }))}
      />
      <section class="card stack" aria-labelledby="html">
        <h2 id="html">{t('adminMail.html')}</h2>
        <dl class="facts broad">
          <Fact term={t('adminMail.subjectLine')}>
            <bdi lang={choice.language}>{subject}</bdi>
          </Fact>
        </dl>
        <iframe
          class="mail"
          title={t('adminMail.frame')}
          sandbox=""
          src={`${PREVIEW}/html${query({})}`}
        />
      </section>
      <section class="card stack" aria-labelledby="text">
        <h2 id="text">{t('adminMail.text')}</h2>
        <pre lang={choice.language} dir="auto">
          {text}
        </pre>
      </section>
      <p class="aside">
        <a href={BASE}>{t('adminMail.back')}</a>
      </p>
    </>,
  )
}

interface ChoicesProps {
  readonly label: string
  readonly choices: readonly {
    readonly label: string
    readonly href: string
    readonly isChosen: boolean
  }[]
}

const Choices: FC<ChoicesProps> = ({ label, choices }) => (
  <nav aria-label={label}>
    <ul class="row plain">
      {choices.map((each) => (
        <li>
          <a
            class="button small"
            href={each.href}
            aria-current={each.isChosen ? 'true' : undefined}
          >
            {each.label}
          </a>
        </li>
      ))}
    </ul>
  </nav>
)
