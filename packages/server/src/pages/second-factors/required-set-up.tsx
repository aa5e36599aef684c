import type { Context, Hono } from 'hono'
import type { Store } from '../../factors/passkeys.ts'
import type { AppEnv } from '../../http/variables.ts'
import type { SignInMethod } from '../../sessions/methods.ts'
import { findPendingPerson, finishSecondFactor, type PendingPerson } from '../../sign-in/finish.ts'
import { Refusal } from '../parts/fields.tsx'
import { readForm } from '../parts/forms.ts'
import { PasskeyForm } from '../parts/passkey-form.tsx'
import { renderPage } from '../parts/render.tsx'
import { AppFields, AppSecret, describeRefusal, PasskeyNameField } from './set-up.tsx'

/**
 * Adds the page on which people set up the second factor that the service requires, before they
 * have a session.
 */
export function addRequiredSetUpPage(app: Hono<AppEnv>): void {
  app.get('/login/set-up', async (c) => {
    const person = await findPendingPerson(c, 'enrolment')
    return person ? setUpPage(c, person) : c.redirect('/login', 303)
  })

  app.post('/login/set-up', async (c) => {
    const form = await readForm(c)
    const person = await findPendingPerson(c, 'enrolment')
    if (!person) return c.redirect('/login', 303)
    const { factors } = c.get('page').service
    // Another browser may have set one up since the password was entered here.
    if (await factors.has(person.user.id)) return c.redirect('/login', 303)
    const added = await addFactor(c, person, form)
    if (typeof added === 'string') return setUpPage(c, person, { form, problem: added })
    const { returnTo } = person.pending
    if (!(await finishSecondFactor(c, person, added))) return c.redirect('/login', 303)
    const query = new URLSearchParams({ return_to: returnTo })
    return c.redirect(`/account/security/recovery-codes?${query}`, 303)
  })
}

/** Adds the factor in the form. Returns its methods, or the problem. */
async function addFactor(
  c: Context<AppEnv>,
  { pending, user }: PendingPerson,
  form: URLSearchParams,
): Promise<readonly SignInMethod[] | string> {
  const { service, t } = c.get('page')
  const { factors, sessions } = service
  const store: Store = (write) => sessions.whileOpen(user.id, pending.id, write)
  const response = form.get('passkey')
  if (response !== null) {
    const name = form.get('name') ?? ''
    const problem = await describeRefusal(c, () =>
      factors.addPasskey(user.id, { session: pending.id, response, name }, store),
    )
    if (problem !== null) return problem
    await service.recovery.notify(user, 'sign_in_method_added', t('factors.passkey.title'))
    return ['pop', 'user']
  }
  const enrolment = factors.readTotp(user, form.get('enrolment') ?? '')
  if (!enrolment) return t('factors.app.expired')
  const isAdded = await service.limits.tryCode(
    'app',
    { userId: user.id, network: c.get('network') },
    () => factors.addTotp(user.id, enrolment, form.get('code') ?? '', store),
  )
  if (!isAdded) return t('factors.app.wrong')
  await service.recovery.notify(user, 'sign_in_method_added', t('factors.app.title'))
  return ['otp']
}

interface SetUpView {
  readonly form?: URLSearchParams
  readonly problem?: string
}

async function setUpPage(c: Context<AppEnv>, person: PendingPerson, view: SetUpView = {}) {
  const { service, t, languageQuery } = c.get('page')
  const { pending, user } = person
  const { factors } = service
  const action = `/login/set-up${languageQuery}`
  const { form, problem } = view
  const isForApp = form?.has('enrolment') ?? false
  // The same secret again, which the person has scanned already.
  const enrolment = factors.readTotp(user, form?.get('enrolment') ?? '') ?? factors.beginTotp(user)
  return renderPage(
    c,
    { title: t('setUp.title'), status: problem === undefined ? 200 : 422 },
    <section class="card narrow">
      <h1>{t('setUp.title')}</h1>
      <p>{t('setUp.lead')}</p>
      {!isForApp && <Refusal text={problem} />}
      {factors.passkeys.isPossible && (
        <>
          <h2>{t('factors.passkey.title')}</h2>
          <p>{t('factors.passkey.text')}</p>
          <PasskeyForm
            mode="create"
            action={action}
            options={await factors.passkeys.registration(user, pending.id)}
            label={t('factors.passkey.add')}
          >
            <PasskeyNameField />
          </PasskeyForm>
        </>
      )}
      <h2>{t('factors.app.title')}</h2>
      <AppSecret enrolment={enrolment} />
      <form method="post" action={action}>
        <AppFields enrolment={enrolment} problem={isForApp ? (problem ?? null) : null} />
      </form>
      <p class="aside">
        <a href="/login">{t('secondStep.startAgain')}</a>
      </p>
    </section>,
  )
}
