import type { Context, Hono } from 'hono'
import { localPath } from '../http/same-origin.ts'
import type { AppEnv } from '../http/variables.ts'
import { RECOVERY_PATHS } from '../recovery/recovery.ts'
import { testCookie } from '../sessions/cookie.ts'
import { finishFirstFactor } from '../sign-in/finish.ts'
import { emailKey, InvalidAccount, parseAccount, parsePerson } from '../users/parse.ts'
import { SignInPurpose } from './parts/approval.tsx'
import { Refusal, Submit, TestCookieField, TextField } from './parts/fields.tsx'
import { readForm } from './parts/forms.ts'
import { ProviderButtons } from './parts/provider-buttons.tsx'
import { listRedirectTargets } from './parts/redirect-targets.ts'
import { renderPage } from './parts/render.tsx'
import { Captcha, captchaPolicy, passesCaptcha } from './recovery/captcha.tsx'
import { NewPassword } from './recovery/new-password.tsx'
import { blocksCookies, EmailField, findSignInPurpose } from './sign-in.tsx'

/** Adds the page on which people create an account. Call it only if registration is on. */
export function addRegistrationPage(app: Hono<AppEnv>): void {
  app.get('/register', (c) => registerPage(c, { returnTo: localPath(c.req.query('return_to')) }))

  app.post('/register', async (c) => {
    const { service } = c.get('page')
    const form = await readForm(c)
    const returnTo = localPath(form.get('return_to'))
    const account = {
      email: form.get('email') ?? '',
      name: form.get('name'),
      password: form.get('password') ?? '',
    }
    if (blocksCookies(c, form)) {
      return registerPage(c, { returnTo, ...account, problem: c.get('page').t('signIn.noCookies') })
    }
    const person = { returnTo, ...account }
    if (!(await passesCaptcha(c, form))) {
      return registerPage(c, { ...person, problem: c.get('page').t('recovery.captcha') })
    }
    if (service.recovery.registersByMail) return registerByMail(c, person)
    try {
      // Invalid input is rejected before it counts toward the rate limit.
      parseAccount(account)
      const key = emailKey(account.email)
      const mayMail =
        service.recovery.hasMail && (await service.limits.countMail(key, c.get('network')))
      const user = await service.limits.register(c.get('network'), () =>
        service.users.create(account),
      )
      if (mayMail) {
        await service.recovery.requestVerification(user, c.get('page').t.language)
      }
      await service.limits.rememberNetwork(emailKey(user.email), c.get('network'))
      return await finishFirstFactor(c, user, {
        methods: ['pwd'],
        returnTo,
        // This request has just created the account.
        stillHolds: async () => true,
      })
    } catch (error) {
      if (!(error instanceof InvalidAccount)) throw error
      return registerPage(c, { returnTo, ...account, problems: error.in(c.get('page').t) })
    }
  })
}

/**
 * Answers alike whether or not the address has an account: the worker of the outbox finds out, and
 * sends either a link or a reminder of the account (threat Q11). The password is chosen on the page
 * that the link opens, so that no stranger can choose it for the owner of the address.
 */
async function registerByMail(
  c: Context<AppEnv>,
  view: { readonly returnTo: string; readonly email: string; readonly name: string | null },
) {
  const { service, t, languageQuery } = c.get('page')
  try {
    const person = parsePerson(view)
    if (await service.limits.countMail(emailKey(person.email), c.get('network'))) {
      const returnTo = view.returnTo.length > MAX_RETURN_TO ? '/' : view.returnTo
      await service.recovery.requestRegistration({ ...person, returnTo }, t.language)
    }
  } catch (error) {
    if (!(error instanceof InvalidAccount)) throw error
    return registerPage(c, { ...view, problems: error.in(t) })
  }
  const query = new URLSearchParams({
    what: 'registration',
    ...Object.fromEntries(new URLSearchParams(languageQuery)),
  })
  return c.redirect(`${RECOVERY_PATHS.sent}?${query}`, 303)
}

/** Longest path that is stored until the link in the mail is opened. */
const MAX_RETURN_TO = 4000

interface RegisterView {
  readonly returnTo: string
  readonly email?: string
  readonly name?: string | null
  /** Problem of the whole form. */
  readonly problem?: string
  /** Problems of fields. */
  readonly problems?: ReturnType<InvalidAccount['in']>
}

async function registerPage(c: Context<AppEnv>, view: RegisterView) {
  const problems = view.problems ?? {}
  const { service, user, t, languageQuery } = c.get('page')
  const waiting = await findSignInPurpose(view.returnTo, service)
  const isWrong = Object.keys(problems).length > 0
  const problem = view.problem ?? (isWrong ? t('register.wrong') : null)
  const signIn = new URLSearchParams({
    return_to: view.returnTo,
    ...(user && { prompt: 'select_account' }),
    ...Object.fromEntries(new URLSearchParams(languageQuery)),
  })
  c.header('set-cookie', testCookie.header(service.url), { append: true })
  return renderPage(
    c,
    {
      title: t('register.title'),
      status: isWrong ? 422 : problem === null ? 200 : 400,
      formTargets: [
        ...(await listRedirectTargets(view.returnTo, service)),
        ...service.upstream.providers.map(({ origin }) => origin),
      ],
      policy: captchaPolicy(service.config.settings),
    },
    <section class="card narrow">
      <h1>{t('register.title')}</h1>
      <SignInPurpose {...waiting} t={t} />
      {user && <p>{t.parts('register.signedInAs', { email: <strong>{user.email}</strong> })}</p>}
      <Refusal text={problem} />
      <form method="post" action={`/register${languageQuery}`}>
        <input type="hidden" name="return_to" value={view.returnTo} />
        <TestCookieField />
        <TextField
          id="name"
          label={t('register.name')}
          problem={problems.name}
          input={{ name: 'name', value: view.name ?? '', autocomplete: 'name', maxlength: 100 }}
        />
        <EmailField value={view.email ?? ''} problem={problems.email} />
        {!service.recovery.registersByMail && <NewPassword problem={problems.password} />}
        <Captcha />
        <Submit class="primary wide">{t('register.title')}</Submit>
      </form>
      <ProviderButtons returnTo={view.returnTo} />
      <p class="aside">
        {t.parts('register.haveAccount', {
          link: <a href={`/login?${signIn}`}>{t('signIn.title')}</a>,
        })}
      </p>
    </section>,
  )
}
