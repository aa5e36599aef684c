import type { Child, FC } from 'hono/jsx'
import { testCookie } from '../../sessions/cookie.ts'

export interface FieldProps {
  readonly id: string
  readonly label: string
  readonly hint?: Child
  /** Why the value is invalid. For forms that the page's script sends, the script fills this in. */
  readonly problem?: string | undefined
  /** Further attributes of the `<input>`. */
  readonly input: Readonly<Record<string, string | number | boolean | undefined>>
}

export const TextField: FC<FieldProps> = (props) => (
  <Field {...props}>
    <input id={props.id} {...props.input} {...describe(props)} />
  </Field>
)

/** A text field with several lines. */
export const TextArea: FC<FieldProps> = (props) => (
  <Field {...props}>
    <textarea id={props.id} {...props.input} {...describe(props)} />
  </Field>
)

/** A label, a hint and a place for the problem, connected for screen readers. */
const Field: FC<FieldProps & { children?: Child }> = ({ id, label, hint, problem, children }) => (
  <div class="field">
    <label for={id}>{label}</label>
    {hint && (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    {children}
    <Problem id={id} text={problem} />
  </div>
)

/** Placeholder for the problem of a field. Empty if the field has no problem. */
export const Problem: FC<{ id: string; text?: string | undefined }> = ({ id, text }) => (
  <p class="problem" id={`${id}-problem`}>
    {text}
  </p>
)

function describe({ id, hint, problem }: FieldProps) {
  const described = [...(hint ? [`${id}-hint`] : []), `${id}-problem`].join(' ')
  return { 'aria-describedby': described, ...(problem ? { 'aria-invalid': 'true' } : {}) }
}

export interface ChoiceProps {
  readonly id: string
  readonly type: 'checkbox' | 'radio'
  readonly name: string
  readonly value: string
  readonly title: Child
  readonly description?: Child
  readonly checked?: boolean
}

/** A checkbox or radio button with a description. */
export const Choice: FC<ChoiceProps> = ({ id, title, description, ...input }) => (
  <label class="choice" for={id}>
    <input id={id} {...input} />
    <span>
      <strong>{title}</strong>
      {description && <small>{description}</small>}
    </span>
  </label>
)

/** The problem of the whole form. Renders nothing if there is none. */
export const Refusal: FC<{ text: Child }> = ({ text }) =>
  text ? (
    <p class="problem boxed" role="alert">
      {text}
    </p>
  ) : null

export const Submit: FC<{ class?: string; children?: Child }> = (props) => (
  <button class={props.class} type="submit">
    {props.children}
  </button>
)

/**
 * Hidden form field on pages that set the test cookie, which detects browsers without cookies (see
 * `testCookie`).
 */
export const TestCookieField: FC = () => (
  <input type="hidden" name={testCookie.field} value="expected" />
)
