import type { Context, Hono } from 'hono'
import { isFreshSignIn } from '../admin/authorize.ts'
import type { AppEnv } from '../http/variables.ts'
import { LANGUAGES } from '../messages/messages.ts'
import type { StillHolds } from '../sessions/account-lock.ts'
import type { SignedInSession } from '../sessions/sessions.ts'
import { confirmPassword, startSession } from '../sign-in/start-session.ts'
import { InvalidAccount } from '../users/parse.ts'
import { Submit, TextField } from './parts/fields.tsx'
import { getSignedInUser, readCsrfForm, requireUser } from './parts/forms.ts'
import { checkOwnPassword } from './parts/identity.tsx'
import { CsrfForm } from './parts/layout.tsx'
import { renderPage } from './parts/render.tsx'
import { AccountEmail } from './recovery/account-email.tsx'
import { LINKS_PATH } from './sign-in-with.tsx'

export function addAccountPage(app: Hono<AppEnv>): void {
  app.get('/account', requireUser(), (c) =>
    accountPage(c, {
      notice:
        c.req.query('changed') !== undefined
          ? 'account.changed'
          : c.req.query('saved') !== undefined
            ? 'account.languageSaved'
            : null,
    }),
  )

  app.post('/account/language', requireUser(), async (c) => {
    const chosen = (await readCsrfForm(c)).get('locale')
    const language = LANGUAGES.find(({ locale }) => locale === chosen)
    await c.get('page').service.users.setLocale(getSignedInUser(c).id, language?.locale ?? null)
    return c.redirect('/account?saved', 303)
  })

  app.post('/account/password', requireUser(), async (c) => {
    const { service } = c.get('page')
    const form = await readCsrfForm(c)
    const user = getSignedInUser(c)
    const session = await service.sessions.find(c.req.header('cookie') ?? null)
    if (!session) return c.redirect('/login', 303)
    if (!(await service.users.hasPassword(user.id))) return setFirstPassword(c, session, form)
    if (!(await checkOwnPassword(c, form.get('current') ?? ''))) {
      return accountPage(c, { problems: { current: c.get('page').t('account.wrong') } })
    }
    const from = { network: c.get('network'), sessionId: session.sessionId }
    let stillHolds: StillHolds
    try {
      const password = form.get('password') ?? ''
      stillHolds = await service.recovery.changePassword(user, password, from)
    } catch (error) {
      if (!(error instanceof InvalidAccount)) throw error
      return accountPage(c, { problems: error.in(c.get('page').t) })
    }
    await startSession(c, user.id, confirmPassword(session), stillHolds)
    return c.redirect('/account?changed', 303)
  })
}

/**
 * Sets the password of an account that has none. Needs a recent sign-in, because there is no current
 * password to ask for.
 */
async function setFirstPassword(
  c: Context<AppEnv>,
  { methods, authenticatedAt, sessionId }: SignedInSession,
  form: URLSearchParams,
): Promise<Response> {
  const { service, t } = c.get('page')
  const user = getSignedInUser(c)
  if (!isFreshSignIn(authenticatedAt, service.clock.now())) {
    return c.redirect('/login?prompt=login&return_to=/account', 303)
  }
  const from = { network: c.get('network'), sessionId }
  let stillHolds: StillHolds
  try {
    stillHolds = await service.recovery.changePassword(user, form.get('password') ?? '', from)
  } catch (error) {
    if (!(error instanceof InvalidAccount)) throw error
    return accountPage(c, { problems: error.in(t) })
  }
  await startSession(c, user.id, { methods, authenticatedAt }, stillHolds)
  return c.redirect('/account?changed', 303)
}

interface AccountView {
  readonly notice?: 'account.changed' | 'account.languageSaved' | null
  readonly problems?: Readonly<Partial<Record<'current' | 'password', string | undefined>>>
}

async function accountPage(c: Context<AppEnv>, { notice = null, problems }: AccountView) {
  const { t, service } = c.get('page')
  const { accountDeletion } = service.config.settings
  const hasPassword = await service.users.hasPassword(getSignedInUser(c).id)
  const password = { type: 'password', required: true }
  return renderPage(
    c,
    { title: t('account.title'), status: problems ? 422 : 200 },
    <section class="card narrow">
      <h1>{t('account.title')}</h1>
      <AccountEmail user={getSignedInUser(c)} />
      {notice && (
        <p class="notice" role="status">
          {t(notice)}
        </p>
      )}
      <CsrfForm action="/account/password">
        {/* Password managers keep a password under a name; without a name of its own it is not sent. */}
        <input
          type="text"
          autocomplete="username"
          value={getSignedInUser(c).email}
          hidden
          readonly
        />
        {hasPassword ? (
          <TextField
            id="current"
            label={t('account.current')}
            problem={problems?.current}
            input={{ ...password, name: 'current', autocomplete: 'current-password' }}
          />
        ) : (
          <p>{t('account.noPassword')}</p>
        )}
        <TextField
          id="password"
          label={t('account.new')}
          hint={t('account.newHint')}
          problem={problems?.password}
          input={{ ...password, name: 'password', autocomplete: 'new-password', minlength: 8 }}
        />
        <Submit class="primary wide">
          {t(hasPassword ? 'account.change' : 'account.setPassword')}
        </Submit>
      </CsrfForm>
      <CsrfForm action="/account/language" class="apart">
        <div class="field">
          <label for="locale">{t('account.language')}</label>
          <p class="hint" id="locale-hint">
            {t('account.languageHint')}
          </p>
          <select id="locale" name="locale" aria-describedby="locale-hint">
            <option value="" selected={getSignedInUser(c).locale === null}>
              {t('account.languageOfBrowser')}
            </option>
            {LANGUAGES.map(({ locale, name }) => (
              <option value={locale} lang={locale} selected={getSignedInUser(c).locale === locale}>
                {name}
              </option>
            ))}
          </select>
        </div>
        <Submit class="wide">{t('account.languageSave')}</Submit>
      </CsrfForm>
      {c.get('page').service.config.settings.secondFactor !== 'off' && (
        <p class="aside">
          <a href="/account/security">{t('factors.title')}</a>
        </p>
      )}
      <p class="aside">
        <a href="/account/sessions">{t('sessions.title')}</a>
      </p>
      {service.upstream.providers.length > 0 && (
        <p class="aside">
          <a href={LINKS_PATH}>{t('links.title')}</a>
        </p>
      )}
      <p class="aside">
        <a href="/account/export">{t('export.title')}</a>
      </p>
      {accountDeletion && (
        <p class="aside">
          <a href="/account/delete">{t('leave.title')}</a>
        </p>
      )}
    </section>,
  )
}
