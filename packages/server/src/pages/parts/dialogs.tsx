import type { Child, FC } from 'hono/jsx'
import { usePage } from './layout.tsx'

/**
 * A dialog. The page's script opens it when a button with `data-open="<id>"` is pressed, and
 * returns the focus to the button when the dialog closes.
 */
export const Dialog: FC<{ id: string; title: string; children?: Child }> = (props) => (
  <dialog id={props.id} aria-labelledby={`${props.id}-title`}>
    <h2 id={`${props.id}-title`}>{props.title}</h2>
    {props.children}
  </dialog>
)

export const DialogButtons: FC<{ action: string; danger?: boolean }> = ({ action, danger }) => (
  <div class="buttons">
    <button type="button" data-close>
      {usePage().t('dialog.cancel')}
    </button>
    <button type="submit" class={danger ? 'danger' : 'primary'}>
      {action}
    </button>
  </div>
)

/**
 * Placeholder in which the page's script shows a problem that belongs to no field, such as a lost
 * connection.
 */
export const FormProblem: FC = () => <p class="problem" role="alert" data-form-problem />

/**
 * The dialog that asks for confirmation before a request is sent. The attributes of the button that
 * opens it define its text and the request.
 */
export const ConfirmDialog: FC = () => (
  <Dialog id="confirm" title={usePage().t('dialog.sure')}>
    <form>
      <p data-text />
      <FormProblem />
      <DialogButtons action={usePage().t('dialog.delete')} danger />
    </form>
  </Dialog>
)

/** A dialog that shows a secret once. */
export const SecretDialog: FC<{ title: string; children?: Child }> = ({ title, children }) => (
  <Dialog id="secret" title={title}>
    <p>{children}</p>
    <dl class="pairs" data-pairs />
    <label for="secret-value" data-label>
      {usePage().t('dialog.secret')}
    </label>
    <textarea id="secret-value" class="code" rows={4} readonly spellcheck={false} />
    <div class="buttons">
      <button type="button" class="primary" data-copy="#secret-value">
        {usePage().t('dialog.copy')}
      </button>
      <button type="button" data-close>
        {usePage().t('dialog.done')}
      </button>
    </div>
  </Dialog>
)

/** A value with a button that copies it. */
export const Copyable: FC<{ id: string; value: string; what: string }> = ({ id, value, what }) => (
  <span class="copyable">
    <code id={id}>{value}</code>
    <button
      type="button"
      class="small quiet"
      data-scripted
      hidden
      data-copy={`#${id}`}
      aria-label={usePage().t('dialog.copyWhat', { what })}
    >
      {usePage().t('dialog.copy')}
    </button>
  </span>
)

/**
 * A notice for browsers without JavaScript. The page's script shows the elements with
 * `data-scripted`, which are hidden until then.
 */
export const NeedsScript: FC<{ children?: Child }> = ({ children }) => (
  <noscript>
    <p class="notice">{children}</p>
  </noscript>
)
