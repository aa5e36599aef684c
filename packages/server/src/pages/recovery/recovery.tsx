import type { Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { ServiceContext } from '../../context.ts'
import { localPath } from '../../http/same-origin.ts'
import type { AppEnv } from '../../http/variables.ts'
import { LinkUnusable, type OpenLink } from '../../recovery/links.ts'
import { RECOVERY_PATHS } from '../../recovery/recovery.ts'
import { finishFirstFactor } from '../../sign-in/finish.ts'
import { emailKey, InvalidAccount, requireEmail } from '../../users/parse.ts'
import { Refusal, Submit, TextField } from '../parts/fields.tsx'
import { readForm } from '../parts/forms.ts'
import { type PageOptions, renderPage } from '../parts/render.tsx'
import { EmailField } from '../sign-in.tsx'
import { addAccountEmailPage } from './account-email.tsx'
import { Captcha, captchaPolicy, passesCaptcha } from './captcha.tsx'
import { NewPassword } from './new-password.tsx'

/**
 * Adds the pages for forgotten passwords and for the links in mail. A GET never uses a link up,
 * because mail scanners open links; only the button on its page does (threat N8).
 */
export function addRecoveryPages(app: Hono<AppEnv>, context: ServiceContext): void {
  addForgot(app)
  addReset(app)
  addConfirm(app)
  if (context.config.settings.registration !== 'closed') addJoinTeamPage(app)
  addAccountEmailPage(app)

  app.get(RECOVERY_PATHS.sent, (c) => {
    const { t } = c.get('page')
    const isRegistration = c.req.query('what') === 'registration'
    return render(
      c,
      { title: t('recovery.sent.title') },
      <>
        <p role="status">
          {t(isRegistration ? 'recovery.sent.registration' : 'recovery.sent.reset')}
        </p>
        <p>{t('recovery.sent.none')}</p>
        <p class="aside">
          <a href={isRegistration ? '/register' : RECOVERY_PATHS.forgot}>{t('recovery.again')}</a>
        </p>
      </>,
    )
  })

  app.get(RECOVERY_PATHS.done, (c) => {
    const { t, user } = c.get('page')
    const isReset = c.req.query('what') === 'reset'
    const others = c.req.query('others')
    return render(
      c,
      { title: t('recovery.done.title') },
      <>
        <p role="status">{t(isReset ? 'recovery.done.reset' : 'recovery.done.confirm')}</p>
        {(others === 'kept' || others === 'removed') && <p>{t(`recovery.done.${others}`)}</p>}
        <p class="aside">
          {user && !isReset ? (
            <a href="/account">{t('account.title')}</a>
          ) : (
            <a href="/login">{t('signIn.title')}</a>
          )}
        </p>
      </>,
    )
  })
}

function addForgot(app: Hono<AppEnv>): void {
  app.get(RECOVERY_PATHS.forgot, (c) => forgotPage(c, { email: c.get('page').user?.email ?? '' }))

  app.post(RECOVERY_PATHS.forgot, async (c) => {
    const { service, t } = c.get('page')
    const form = await readForm(c)
    const email = form.get('email') ?? ''
    if (!(await passesCaptcha(c, form))) {
      return forgotPage(c, { email, problem: t('recovery.captcha') })
    }
    try {
      requireEmail(email)
    } catch (error) {
      if (!(error instanceof InvalidAccount)) throw error
      return forgotPage(c, { email, problem: error.in(t).email })
    }
    // Whether the address has an account is found out after the response (threat Q11).
    if (await service.limits.countMail(emailKey(email), c.get('network'))) {
      await service.recovery.requestPasswordReset(email, t.language)
    }
    return c.redirect(`${RECOVERY_PATHS.sent}?what=reset`, 303)
  })
}

function forgotPage(
  c: Context<AppEnv>,
  { email, problem }: { readonly email: string; readonly problem?: string | undefined },
) {
  const { t, service } = c.get('page')
  return render(
    c,
    {
      title: t('recovery.forgot.title'),
      status: problem === undefined ? 200 : 422,
      policy: captchaPolicy(service.config.settings),
    },
    <>
      <p>{t('recovery.forgot.lead')}</p>
      <Refusal text={problem} />
      <form method="post" action={RECOVERY_PATHS.forgot}>
        <EmailField value={email} />
        <Captcha />
        <Submit class="primary wide">{t('recovery.forgot.send')}</Submit>
      </form>
      <p class="aside">
        <a href="/login">{t('signIn.title')}</a>
      </p>
    </>,
  )
}

function addReset(app: Hono<AppEnv>): void {
  const path = RECOVERY_PATHS.reset
  app.get(path, (c) => resetPage(c, c.req.query('token') ?? '', {}))

  app.post(path, async (c) => {
    const form = await readForm(c)
    const token = form.get('token') ?? ''
    const { recovery, limits } = c.get('page').service
    const password = form.get('password') ?? ''
    try {
      const { address, otherWays } = await recovery.resetPassword(token, password, c.get('network'))
      // So that the person can sign in from here even while others guess at the password.
      await limits.rememberNetwork(emailKey(address), c.get('network'))
      const query = { what: 'reset', ...(otherWays !== 'none' && { others: otherWays }) }
      return c.redirect(`${RECOVERY_PATHS.done}?${new URLSearchParams(query)}`, 303)
    } catch (error) {
      if (error instanceof LinkUnusable) return unusablePage(c)
      if (!(error instanceof InvalidAccount)) throw error
      return resetPage(c, token, error.in(c.get('page').t))
    }
  })
}

async function resetPage(
  c: Context<AppEnv>,
  token: string,
  problems: { readonly password?: string | undefined },
) {
  const { service, t } = c.get('page')
  const found = await service.recovery.find(['reset'], token)
  if (!found?.user) return unusablePage(c)
  const { email } = found.user
  return render(
    c,
    { title: t('recovery.reset.title'), status: problems.password ? 422 : 200 },
    <>
      <p>{t.parts('recovery.reset.lead', { email: <bdi>{email}</bdi> })}</p>
      <form method="post" action={RECOVERY_PATHS.reset}>
        <input type="hidden" name="token" value={token} />
        <input type="text" autocomplete="username" value={email} hidden readonly />
        <NewPassword problem={problems.password} />
        <Submit class="primary wide">{t('recovery.reset.save')}</Submit>
      </form>
    </>,
  )
}

function addConfirm(app: Hono<AppEnv>): void {
  const path = RECOVERY_PATHS.confirm
  app.get(path, async (c) => {
    const { service, t } = c.get('page')
    const token = c.req.query('token') ?? ''
    const found = await service.recovery.find(['verify', 'change'], token)
    if (!found) return unusablePage(c)
    const { address, purpose } = found.link
    const question =
      purpose === 'change' ? 'recovery.confirm.change' : 'recovery.confirm.verification'
    return render(
      c,
      { title: t('recovery.confirm.title') },
      <>
        <p>
          {t.parts(question, {
            email: <bdi>{address}</bdi>,
            account: <bdi>{found.user?.email ?? address}</bdi>,
          })}
        </p>
        <form method="post" action={path}>
          <input type="hidden" name="token" value={token} />
          <Submit class="primary wide">{t('recovery.confirm.button')}</Submit>
        </form>
      </>,
    )
  })

  app.post(path, async (c) => {
    const { service } = c.get('page')
    const token = (await readForm(c)).get('token') ?? ''
    try {
      const address = await service.recovery.confirmAddress(token)
      await service.limits.rememberNetwork(emailKey(address), c.get('network'))
    } catch (error) {
      if (error instanceof LinkUnusable) return unusablePage(c)
      throw error
    }
    return c.redirect(`${RECOVERY_PATHS.done}?what=confirm`, 303)
  })
}

function addJoinTeamPage(app: Hono<AppEnv>): void {
  const path = RECOVERY_PATHS.join
  const purposesOf = (c: Context<AppEnv>) =>
    c.get('page').service.config.settings.registration === 'open'
      ? (['register', 'invite'] as const)
      : (['invite'] as const)

  app.get(path, async (c) => {
    const token = c.req.query('token') ?? ''
    const found = await c.get('page').service.recovery.find(purposesOf(c), token)
    return found ? joinPage(c, token, found, {}) : unusablePage(c)
  })

  app.post(path, async (c) => {
    const { service, t } = c.get('page')
    const form = await readForm(c)
    const token = form.get('token') ?? ''
    const found = await service.recovery.find(purposesOf(c), token)
    if (!found) return unusablePage(c)
    const name = form.get('name')
    try {
      const person = { name, password: form.get('password') ?? '' }
      const user = await service.recovery.join(token, person, c.get('network'))
      await service.limits.rememberNetwork(emailKey(user.email), c.get('network'))
      const returnTo = localPath(found.link.details.returnTo)
      return await finishFirstFactor(c, user, {
        methods: ['pwd'],
        returnTo,
        // This request has just created the account.
        stillHolds: async () => true,
      })
    } catch (error) {
      if (error instanceof LinkUnusable) return unusablePage(c)
      if (!(error instanceof InvalidAccount)) throw error
      return joinPage(c, token, found, error.in(t), name)
    }
  })
}

function joinPage(
  c: Context<AppEnv>,
  token: string,
  { link }: OpenLink,
  problems: ReturnType<InvalidAccount['in']>,
  name: string | null = link.details.name ?? null,
) {
  const { t } = c.get('page')
  return render(
    c,
    { title: t('recovery.join.title'), status: Object.keys(problems).length > 0 ? 422 : 200 },
    <>
      <p>{t.parts('recovery.join.lead', { email: <bdi>{link.address}</bdi> })}</p>
      <form method="post" action={RECOVERY_PATHS.join}>
        <input type="hidden" name="token" value={token} />
        <input type="text" autocomplete="username" value={link.address} hidden readonly />
        <TextField
          id="name"
          label={t('register.name')}
          problem={problems.name}
          input={{ name: 'name', value: name ?? '', autocomplete: 'name', maxlength: 100 }}
        />
        <NewPassword problem={problems.password} />
        <Submit class="primary wide">{t('recovery.join.button')}</Submit>
      </form>
    </>,
  )
}

/** The page of a link that does not work, which does not say why. */
function unusablePage(c: Context<AppEnv>) {
  const { t, service } = c.get('page')
  return render(
    c,
    { title: t('recovery.unusable.title'), status: 404 },
    <>
      <p>{t('recovery.unusable.text')}</p>
      <p class="aside">
        <a href={RECOVERY_PATHS.forgot}>{t('recovery.forgot.link')}</a>
      </p>
      {service.config.settings.registration === 'open' && (
        <p class="aside">
          <a href="/register">{t('recovery.unusable.register')}</a>
        </p>
      )}
    </>,
  )
}

/** Renders a page whose URL may contain a link: no other page learns it from the referrer. */
function render(c: Context<AppEnv>, options: PageOptions, content: Child) {
  c.header('referrer-policy', 'no-referrer')
  return renderPage(
    c,
    options,
    <section class="card narrow">
      <h1>{options.title}</h1>
      {content}
    </section>,
  )
}
