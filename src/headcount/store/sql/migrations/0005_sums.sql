-- A sum over each row, so that a bit that was flipped where SQLite does not look is noticed when the row is read.
-- Rows of before have none until they are written again.
ALTER TABLE meta ADD COLUMN sum INTEGER;
ALTER TABLE sessions ADD COLUMN sum INTEGER;
ALTER TABLE events ADD COLUMN sum INTEGER;
ALTER TABLE claims ADD COLUMN sum INTEGER;
ALTER TABLE requests ADD COLUMN sum INTEGER;
ALTER TABLE tokens ADD COLUMN sum INTEGER;
ALTER TABLE leftovers ADD COLUMN sum INTEGER;
