import type { Child, FC } from 'hono/jsx'

/** Opened by the script: a button with `data-open="<id>"`. Closing gives the focus back. */
export const Dialog: FC<{ id: string; title: string; children?: Child }> = (props) => (
  <dialog id={props.id} aria-labelledby={`${props.id}-title`}>
    <h2 id={`${props.id}-title`}>{props.title}</h2>
    {props.children}
  </dialog>
)

export const DialogButtons: FC<{ action: string; danger?: boolean }> = ({ action, danger }) => (
  <div class="buttons">
    <button type="button" data-close>
      Cancel
    </button>
    <button type="submit" class={danger ? 'danger' : 'primary'}>
      {action}
    </button>
  </div>
)

/** What no field is to blame for, for example a lost connection. */
export const FormProblem: FC = () => <p class="problem" role="alert" data-form-problem />

/** Asks before something is ended. The button that opens it says what, and the script what to call. */
export const ConfirmDialog: FC = () => (
  <Dialog id="confirm" title="Are you sure?">
    <form>
      <p data-text />
      <FormProblem />
      <DialogButtons action="Delete" danger />
    </form>
  </Dialog>
)

/** A secret that no page will show again. */
export const SecretDialog: FC<{ title: string; children?: Child }> = ({ title, children }) => (
  <Dialog id="secret" title={title}>
    <p>{children}</p>
    <dl class="pairs" data-pairs />
    <label for="secret-value" data-label>
      Secret
    </label>
    <textarea id="secret-value" class="code" rows={4} readonly spellcheck={false} />
    <div class="buttons">
      <button type="button" class="primary" data-copy="#secret-value">
        Copy
      </button>
      <button type="button" data-close>
        Done
      </button>
    </div>
  </Dialog>
)

/** A value somebody will want elsewhere. */
export const Copyable: FC<{ id: string; value: string; what: string }> = ({ id, value, what }) => (
  <span class="copyable">
    <code id={id}>{value}</code>
    <button
      type="button"
      class="small quiet"
      data-scripted
      hidden
      data-copy={`#${id}`}
      aria-label={`Copy ${what}`}
    >
      Copy
    </button>
  </span>
)

/** Says what cannot be done without a script. The buttons for it are `hidden`, until the script shows what has `data-scripted`. */
export const NeedsScript: FC<{ children?: Child }> = ({ children }) => (
  <noscript>
    <p class="notice">{children}</p>
  </noscript>
)
