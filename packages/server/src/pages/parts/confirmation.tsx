import type { Child, FC } from 'hono/jsx'
import type { PageContext } from '../../http/variables.ts'
import { CsrfField } from './layout.tsx'

export interface ConfirmationProps {
  readonly page: PageContext
  /** The question, as the heading of the page. */
  readonly title: Child
  /** The address that the form is sent to. */
  readonly action: string
  /** Hidden fields of the form. */
  readonly fields: Readonly<Record<string, string>>
  /** The harmless button, which leads back. */
  readonly stay: string
  /** The button that does it. */
  readonly go: string
  /** Why it was not done, when the form comes back. */
  readonly problem?: string | null
  /** The consequences, and fields for what is to be decided. */
  readonly children?: Child
}

/**
 * Asks before something is ended that cannot be undone. The Enter key presses the first button of a form, so that one is
 * harmless; it needs no field to be filled in.
 */
export const Confirmation: FC<ConfirmationProps> = (props) => (
  <section class="card narrow">
    <h1>{props.title}</h1>
    {props.problem && (
      <p class="problem boxed" role="alert">
        {props.problem}
      </p>
    )}
    <form method="post" action={props.action} class="stack" data-once>
      <CsrfField page={props.page} />
      {Object.entries(props.fields).map(([name, value]) => (
        <input type="hidden" name={name} value={value} />
      ))}
      {props.children}
      <div class="buttons wide">
        <button type="submit" name="decision" value="stay" formnovalidate>
          {props.stay}
        </button>
        <button type="submit" class="danger" name="decision" value="go">
          {props.go}
        </button>
      </div>
    </form>
  </section>
)

/** Whether the harmless button was pressed. */
export function stays(form: URLSearchParams): boolean {
  return form.get('decision') === 'stay'
}
