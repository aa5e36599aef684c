import type { Child, FC } from 'hono/jsx'

export interface FieldProps {
  readonly id: string
  readonly label: string
  readonly hint?: Child
  /** What is wrong with the value; the script fills it in where the form is sent by it. */
  readonly problem?: string | undefined
  /** Everything else an `<input>` takes. */
  readonly input: Readonly<Record<string, string | number | boolean | undefined>>
}

export const TextField: FC<FieldProps> = (props) => (
  <Field {...props}>
    <input id={props.id} {...props.input} {...describe(props)} />
  </Field>
)

/** The same for several lines. */
export const TextArea: FC<FieldProps> = (props) => (
  <Field {...props}>
    <textarea id={props.id} {...props.input} {...describe(props)} />
  </Field>
)

/** A label, a hint and the place for what is wrong, tied together for screen readers. */
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

/** Empty until there is one. */
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

/** A checkbox or radio button with room for a sentence below its name. */
export const Choice: FC<ChoiceProps> = ({ id, title, description, ...input }) => (
  <label class="choice" for={id}>
    <input id={id} {...input} />
    <span>
      <strong>{title}</strong>
      {description && <small>{description}</small>}
    </span>
  </label>
)
