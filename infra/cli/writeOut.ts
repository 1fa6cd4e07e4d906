/**
 * Comes back once the text is on the standard output, also where its reader is slow.
 * @throws when it cannot be written
 */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
