import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { AppEnv } from '../../http/variables.ts'
import { whileSignedIn } from '../../sign-in/start-session.ts'
import { emailKey, InvalidAccount, requireEmail } from '../../users/parse.ts'
import type { User } from '../../users/user.ts'
import { Submit, TextField } from '../parts/fields.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from '../parts/forms.ts'
import { checkOwnPassword, requireProvableIdentity } from '../parts/identity.tsx'
import { CsrfForm, usePage } from '../parts/layout.tsx'
import { renderPage } from '../parts/render.tsx'

const PATH = '/account/email'

/** The address of a person on the account page, with its state if the service sends mail. */
export const AccountEmail: FC<{ user: User }> = ({ user }) => {
  const { t, service } = usePage()
  if (!service.recovery.hasMail) {
    return (
      <p>
        <bdi>{user.email}</bdi>
      </p>
    )
  }
  return (
    <p class="row">
      <bdi>{user.email}</bdi> <EmailState user={user} />{' '}
      <a href={PATH}>{t('account.changeEmail')}</a>
    </p>
  )
}

const EmailState: FC<{ user: User }> = ({ user }) => {
  const { t } = usePage()
  return user.emailVerifiedAt === null ? (
    <span class="badge">{t('account.unverified')}</span>
  ) : (
    <span class="badge good">{t('account.verified')}</span>
  )
}

/** Adds the page where people confirm and change the address of their account. */
export function addAccountEmailPage(app: Hono<AppEnv>): void {
  app.get(PATH, requireUser(), (c) => emailPage(c, {}))

  app.post(`${PATH}/verify`, requireUser(), async (c) => {
    await readCsrfForm(c)
    const { service, t } = c.get('page')
    const user = getSignedInUser(c)
    if (
      user.emailVerifiedAt === null &&
      (await service.limits.countMail(emailKey(user.email), c.get('network')))
    ) {
      await service.recovery.requestVerification(user, t.language)
    }
    return c.redirect(`${PATH}?sent=verify`, 303)
  })

  app.post(PATH, requireUser(), requireProvableIdentity, async (c) => {
    const { service, t } = c.get('page')
    const form = await readCsrfForm(c)
    const user = getSignedInUser(c)
    const email = form.get('email') ?? ''
    try {
      requireEmail(email)
    } catch (error) {
      if (!(error instanceof InvalidAccount)) throw error
      return emailPage(c, { email, problems: error.in(t) })
    }
    // Without a password, the sign-in is recent: see `requireProvableIdentity`.
    const isOwner =
      !(await service.users.hasPassword(user.id)) ||
      (await checkOwnPassword(c, form.get('current') ?? ''))
    if (!isOwner) {
      return emailPage(c, { email, problems: { current: t('account.wrong') } })
    }
    // Answers alike whether or not the address has an account (threat Q11).
    if (await service.limits.countMail(emailKey(email), c.get('network'))) {
      await whileSignedIn(c)(() => service.recovery.requestAddressChange(user, email, t.language))
    }
    return c.redirect(`${PATH}?sent=change`, 303)
  })
}

interface EmailView {
  readonly email?: string
  readonly problems?: Readonly<Partial<Record<'email' | 'current', string | undefined>>>
}

const NOTICES = { verify: 'account.verifySent', change: 'account.emailRequested' } as const

async function emailPage(c: Context<AppEnv>, { email = '', problems }: EmailView) {
  const { t, service } = c.get('page')
  const user = getSignedInUser(c)
  const hasPassword = await service.users.hasPassword(user.id)
  const sent = c.req.query('sent')
  const notice = sent === 'verify' || sent === 'change' ? NOTICES[sent] : null
  return renderPage(
    c,
    { title: t('account.emailTitle'), status: problems ? 422 : 200 },
    <section class="card narrow">
      <h1>{t('account.emailTitle')}</h1>
      <p class="row">
        <bdi>{user.email}</bdi> <EmailState user={user} />
      </p>
      {notice && (
        <p class="notice" role="status">
          {t(notice)}
        </p>
      )}
      {user.emailVerifiedAt === null && (
        <CsrfForm action={`${PATH}/verify`}>
          <Submit class="wide">{t('account.verify')}</Submit>
        </CsrfForm>
      )}
      <CsrfForm action={PATH} class="apart">
        <p>{t('account.changeEmailLead')}</p>
        <TextField
          id="email"
          label={t('account.newEmail')}
          problem={problems?.email}
          input={{
            type: 'email',
            name: 'email',
            value: email,
            autocomplete: 'email',
            required: true,
          }}
        />
        {hasPassword && (
          <TextField
            id="current"
            label={t('account.current')}
            problem={problems?.current}
            input={{
              type: 'password',
              name: 'current',
              autocomplete: 'current-password',
              required: true,
            }}
          />
        )}
        <Submit class="primary wide">{t('account.changeEmail')}</Submit>
      </CsrfForm>
      <p class="aside">
        <a href="/account">{t('account.title')}</a>
      </p>
    </section>,
  )
}
