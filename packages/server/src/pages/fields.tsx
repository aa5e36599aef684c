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

/** A label, a hint and the place for what is wrong, tied together for screen readers. */
export const TextField: FC<FieldProps> = ({ id, label, hint, problem, input }) => (
  <div class="field">
    <label for={id}>{label}</label>
    {hint && (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    <input id={id} {...input} {...describe(id, hint, problem)} />
    <Problem id={id} text={problem} />
  </div>
)

/** The same for several lines. */
export const TextArea: FC<FieldProps> = ({ id, label, hint, problem, input }) => (
  <div class="field">
    <label for={id}>{label}</label>
    {hint && (
      <p class="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    <textarea id={id} {...input} {...describe(id, hint, problem)} />
    <Problem id={id} text={problem} />
  </div>
)

/** Empty until there is one. */
export const Problem: FC<{ id: string; text?: string | undefined }> = ({ id, text }) => (
  <p class="problem" id={`${id}-problem`}>
    {text}
  </p>
)

function describe(id: string, hint: Child | undefined, problem: string | undefined) {
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
