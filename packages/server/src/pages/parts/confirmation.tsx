import type { Child, FC } from 'hono/jsx'
import { Refusal } from './fields.tsx'
import { CsrfForm } from './layout.tsx'

export interface ConfirmationProps {
  /** The question, used as the heading of the page. */
  readonly title: Child
  /** Target URL of the form. */
  readonly action: string
  /** Hidden fields of the form. */
  readonly fields: Readonly<Record<string, string>>
  /** Label of the button that cancels and leads back. */
  readonly cancelLabel: string
  /** Label of the button that carries out the action. */
  readonly confirmLabel: string
  /** Why the action failed, when the form is shown again. */
  readonly problem?: string | null
  /**
   * Whether the action takes nothing away from anyone, so that its button needs no warning color.
   * @default false
   */
  readonly isHarmless?: boolean
  /** Description of the consequences, and form fields for decisions. */
  readonly children?: Child
}

/**
 * A page that asks for confirmation of an action that cannot be undone. The cancel button comes
 * first in the form, because the Enter key presses the first button; it skips validation.
 */
export const Confirmation: FC<ConfirmationProps> = (props) => (
  <section class="card narrow">
    <h1>{props.title}</h1>
    <Refusal text={props.problem} />
    <CsrfForm action={props.action} class="stack" data-once>
      {Object.entries(props.fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {props.children}
      <div class="buttons wide">
        <button type="submit" name="decision" value="stay" formnovalidate>
          {props.cancelLabel}
        </button>
        <button
          type="submit"
          class={props.isHarmless ? 'primary' : 'danger'}
          name="decision"
          value="go"
        >
          {props.confirmLabel}
        </button>
      </div>
    </CsrfForm>
  </section>
)

/** Whether the form was sent with the cancel button of a confirmation page. */
export function isCancelled(form: URLSearchParams): boolean {
  return form.get('decision') === 'stay'
}
