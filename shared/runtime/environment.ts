/** @throws {Error} if the variable is unset or empty, which fails the function's start and so its deployment */
export function readVariable(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`The environment variable ${name} is not set.`);
  return value;
}
