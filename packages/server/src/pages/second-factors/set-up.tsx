import type { Context } from 'hono'
import type { FC } from 'hono/jsx'
import type { TotpEnrolment } from '../../factors/factors.ts'
import { type PasskeyRefusal, PasskeyRefused } from '../../factors/passkeys.ts'
import type { AppEnv } from '../../http/variables.ts'
import { Submit, TextField } from '../parts/fields.tsx'
import { usePage } from '../parts/layout.tsx'
import { QrCode } from './qr-code.tsx'

/** The secret of a new authenticator app: as a QR code, and as text that can be typed. */
export const AppSecret: FC<{ enrolment: TotpEnrolment }> = ({ enrolment }) => {
  const { t } = usePage()
  return (
    <>
      <p>{t('factors.app.scan')}</p>
      <QrCode content={enrolment.uri} label={t('factors.app.qrCode')} />
      <p>
        {t('factors.app.type')} <code class="code">{groupLetters(enrolment.secret)}</code>
      </p>
      <p>
        <a href={enrolment.uri}>{t('factors.app.open')}</a>
      </p>
    </>
  )
}

/** The fields of the form that adds an authenticator app. */
export const AppFields: FC<{ enrolment: TotpEnrolment; problem: string | null }> = (props) => {
  const { t } = usePage()
  return (
    <>
      <input type="hidden" name="enrolment" value={props.enrolment.sealed} />
      <CodeField label={t('factors.app.code')} problem={props.problem ?? undefined} />
      <Submit class="primary wide">{t('factors.app.add')}</Submit>
    </>
  )
}

/** The field for a code of an authenticator app. */
export const CodeField: FC<{ label: string; problem?: string | undefined }> = (props) => (
  <TextField
    id="code"
    label={props.label}
    problem={props.problem}
    input={{
      name: 'code',
      inputmode: 'numeric',
      autocomplete: 'one-time-code',
      maxlength: 20,
      required: true,
    }}
  />
)

/** The field for the name of a new passkey. */
export const PasskeyNameField: FC<{ value?: string }> = ({ value }) => {
  const { t } = usePage()
  return (
    <TextField
      id="passkey-name"
      label={t('factors.passkey.name')}
      hint={t('factors.passkey.nameHint')}
      input={{ name: 'name', value: value ?? '', maxlength: 100, autocomplete: 'off' }}
    />
  )
}

const groupLetters = (secret: string) => secret.replace(/(.{4})(?=.)/g, '$1 ')

const REFUSALS = {
  expired: 'passkey.expired',
  cloned: 'passkey.cloned',
  invalid: 'passkey.refused',
  taken: 'passkey.taken',
  'too-many': 'passkey.tooMany',
} as const satisfies Record<PasskeyRefusal, string>

/**
 * Runs a check of a passkey. Returns the text of the problem if the passkey was refused, and logs
 * why, because a cloned passkey is a sign of an attack.
 */
export async function describeRefusal(
  c: Context<AppEnv>,
  check: () => Promise<void>,
): Promise<string | null> {
  return proveOrDescribe(c, async () => {
    await check()
    return null
  })
}

/** Runs a check of a passkey. Returns its result, or the text of the refusal. */
export async function proveOrDescribe<T>(
  c: Context<AppEnv>,
  check: () => Promise<T>,
): Promise<T | string> {
  const { service, t } = c.get('page')
  try {
    return await check()
  } catch (error) {
    if (!(error instanceof PasskeyRefused)) throw error
    service.logger.warn({ reason: error.reason }, 'A passkey was refused')
    return t(REFUSALS[error.reason])
  }
}
