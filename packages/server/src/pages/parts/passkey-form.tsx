import type { Child, FC } from 'hono/jsx'
import { assetUrl } from './assets.ts'
import { usePage } from './layout.tsx'

interface PasskeyFormProps {
  readonly action: string
  /** Options for the browser, as JSON: to create a passkey, or to use one. */
  readonly options: object
  readonly mode: 'create' | 'get'
  readonly class?: string
  readonly label: string
  /** Hidden fields of the form, and fields above its button. */
  readonly children?: Child
}

/**
 * A form whose button asks the browser for a passkey. The script fills in the response and sends
 * the form. Without JavaScript, the page says that it is needed.
 */
export const PasskeyForm: FC<PasskeyFormProps> = (props) => {
  const { t } = usePage()
  return (
    <form
      method="post"
      action={props.action}
      data-passkey={props.mode}
      data-options={JSON.stringify(props.options)}
      data-cancelled={t('passkey.cancelled')}
      data-unsupported={t('passkey.unsupported')}
      data-known={t('passkey.taken')}
    >
      <input type="hidden" name="passkey" value="" />
      {props.children}
      <p class="problem" aria-live="assertive" data-passkey-problem />
      <button class={props.class ?? 'wide'} type="submit" data-scripted hidden>
        {props.label}
      </button>
      <p class="hint" data-without-script>
        {t('passkey.needsScript')}
      </p>
      <script type="module" src={assetUrl('passkeys.js')} />
    </form>
  )
}
