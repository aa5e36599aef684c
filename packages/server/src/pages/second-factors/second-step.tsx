import type { Context, Hono } from 'hono'
import type { FC } from 'hono/jsx'
import type { FactorList } from '../../factors/factors.ts'
import type { AppEnv } from '../../http/variables.ts'
import type { SignInMethod } from '../../sessions/methods.ts'
import {
  choosePageAfterSignIn,
  findPendingPerson,
  finishSecondFactor,
  type PendingPerson,
} from '../../sign-in/finish.ts'
import { toContactUrl } from '../parts/brand.ts'
import { Refusal, Submit, TextField } from '../parts/fields.tsx'
import { readForm } from '../parts/forms.ts'
import { usePage } from '../parts/layout.tsx'
import { PasskeyForm } from '../parts/passkey-form.tsx'
import { listRedirectTargets } from '../parts/redirect-targets.ts'
import { renderPage } from '../parts/render.tsx'
import { CodeField, describeRefusal } from './set-up.tsx'

/**
 * Adds the second step of the sign-in: a code, a passkey or a recovery code. The person has no
 * session yet, only the cookie of the pending sign-in.
 */
export function addSecondStepPages(app: Hono<AppEnv>): void {
  app.get('/login/second-step', async (c) => {
    const person = await findPendingPerson(c, 'second-factor')
    return person ? stepPage(c, person) : c.redirect('/login', 303)
  })

  app.post('/login/second-step', async (c) => {
    const form = await readForm(c)
    const person = await findPendingPerson(c, 'second-factor')
    if (!person) return c.redirect('/login', 303)
    const proof = await checkProof(c, person, form)
    if (typeof proof === 'string') {
      c.get('page').service.metrics.countSignIn('failed')
      return stepPage(c, person, { problem: proof, isRecovery: form.has('recovery') })
    }
    const { returnTo } = person.pending
    if (!(await finishSecondFactor(c, person, proof))) return c.redirect('/login', 303)
    return c.redirect(await choosePageAfterSignIn(c, person.user.id, returnTo), 303)
  })
}

/** Checks what the form proves. Returns its methods, or the problem. */
async function checkProof(
  c: Context<AppEnv>,
  { pending, user }: PendingPerson,
  form: URLSearchParams,
): Promise<readonly SignInMethod[] | string> {
  const { service, t } = c.get('page')
  const { factors, limits } = service
  const by = { userId: user.id, network: c.get('network') }
  const recovery = form.get('recovery')
  if (recovery !== null) {
    const isRight = await limits.tryCode('recovery', by, () =>
      factors.useRecoveryCode(user.id, recovery),
    )
    if (!isRight) return t('secondStep.wrongRecovery')
    const { recoveryCodes } = await factors.list(user.id)
    await service.recovery.notify(user, 'recovery_code_used', String(recoveryCodes))
    return ['otp']
  }
  const response = form.get('passkey')
  if (response !== null) {
    const problem = await describeRefusal(c, async () => {
      await factors.passkeys.verify(user.id, pending.id, response)
    })
    return problem ?? ['pop', 'user']
  }
  const code = form.get('code') ?? ''
  const isRight = await limits.tryCode('app', by, () => factors.useTotp(user.id, code))
  return isRight ? ['otp'] : t('secondStep.wrongCode')
}

/** Whom to ask without the second factor and without a recovery code (threat N3). */
const LostFactor: FC = () => {
  const { service, t } = usePage()
  const { name, support } = service.config.settings
  return (
    <p>
      {support === null
        ? t.parts('secondStep.ask', { service: <bdi>{name}</bdi> })
        : t.parts('secondStep.ask.contact', {
            contact: <a href={toContactUrl(support)}>{support}</a>,
          })}
    </p>
  )
}

interface StepView {
  readonly problem?: string
  /** Whether the problem is about a recovery code. */
  readonly isRecovery?: boolean
}

async function stepPage(c: Context<AppEnv>, person: PendingPerson, view: StepView = {}) {
  const { service, t, languageQuery } = c.get('page')
  const { pending, user } = person
  const { factors } = service
  const own: FactorList = await factors.list(user.id)
  const action = `/login/second-step${languageQuery}`
  const usesPasskeys = own.passkeys.length > 0 && factors.passkeys.isPossible
  const { problem, isRecovery = false } = view
  return renderPage(
    c,
    {
      title: t('secondStep.title'),
      status: problem === undefined ? 200 : 401,
      formTargets: await listRedirectTargets(pending.returnTo, service),
    },
    <section class="card narrow">
      <h1>{t('secondStep.title')}</h1>
      <p>{t.parts('secondStep.lead', { email: <bdi>{user.email}</bdi> })}</p>
      <Refusal text={problem} />
      {usesPasskeys && (
        <PasskeyForm
          mode="get"
          action={action}
          options={await factors.passkeys.request(user.id, pending.id)}
          label={t('secondStep.usePasskey')}
          class={own.totp ? 'wide' : 'primary wide'}
        />
      )}
      {own.totp && (
        <form method="post" action={action}>
          <CodeField label={t('secondStep.code')} />
          <Submit class="primary wide">{t('secondStep.useCode')}</Submit>
        </form>
      )}
      <details class="apart" open={isRecovery}>
        <summary>{t('secondStep.lost')}</summary>
        {own.recoveryCodes > 0 && (
          <form method="post" action={action}>
            <TextField
              id="recovery"
              label={t('secondStep.recovery')}
              hint={t('secondStep.recoveryHint')}
              input={{
                name: 'recovery',
                autocomplete: 'off',
                autocapitalize: 'none',
                spellcheck: 'false',
                maxlength: 40,
                required: true,
              }}
            />
            <Submit class="wide">{t('secondStep.useRecovery')}</Submit>
          </form>
        )}
        <LostFactor />
      </details>
      <p class="aside">
        {pending.sessionId === null ? (
          <a href="/login">{t('secondStep.startAgain')}</a>
        ) : (
          <a href={pending.returnTo}>{t('secondStep.goBack')}</a>
        )}
      </p>
    </section>,
  )
}
