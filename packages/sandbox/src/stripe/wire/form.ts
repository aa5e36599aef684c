/** Form fields before they are converted to their types. Lists are objects with indexes as keys. */
export type FormValue = string | FormObject
export interface FormObject {
  [key: string]: FormValue
}

export function isForm(value: FormValue | undefined): value is FormObject {
  return typeof value === 'object'
}
